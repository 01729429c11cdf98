/** The longest stored value, in bytes: addresses and tokens are shorter than 100. */
const LONGEST_VALUE = 1_024;

/**
 * Most fields that are read, in all records together. A record of many empty fields takes time, for any number of
 * bytes.
 */
const MOST_FIELDS = 5_000_000;

/** The small values of one record, by field number. If a field is repeated, the last one counts. */
export type WireRecord = ReadonlyMap<number, Buffer | number>;

/** The records to read: by field number of the whole, the field numbers that are wanted within. */
export type WantedRecords = ReadonlyMap<number, ReadonlySet<number>>;

/**
 * Reads the small values of some records of a Protocol Buffers message out of a stream of bytes, and skips all else. So
 * its memory does not grow with the message. It replaces the generated decoder if the sender is not trusted, since that
 * decoder makes an object of every two bytes. Source of the format: protobuf.dev/programming-guides/encoding.
 */
export class WireFields {
  readonly #wanted: WantedRecords;
  readonly #take: (field: number, record: WireRecord) => void;
  #position = 0;
  #fields = 0;
  /** The record that is being read. */
  #open:
    | { readonly field: number; readonly end: number; readonly values: Map<number, Buffer | number> }
    | undefined;
  /** The number that is being read, and what it means. */
  #number = 0;
  #scale = 1;
  #means: 'tag' | 'length' | 'value' = 'tag';
  #field = 0;
  #skip = 0;
  #value: { readonly bytes: Buffer; filled: number } | undefined;

  constructor(wantedRecords: WantedRecords, take: (field: number, record: WireRecord) => void) {
    this.#wanted = wantedRecords;
    this.#take = take;
  }

  /** Reads on. Throws on bytes that make no sense. */
  push(chunk: Uint8Array): void {
    let offset = 0;
    while (offset < chunk.length) {
      let usedBytes = 1;
      if (this.#skip > 0) {
        usedBytes = Math.min(this.#skip, chunk.length - offset);
        this.#skip -= usedBytes;
      } else if (this.#value !== undefined) {
        usedBytes = this.#fill(this.#value, chunk.subarray(offset));
      } else {
        this.#digit(chunk[offset] ?? 0);
      }
      offset += usedBytes;
      this.#position += usedBytes;
      this.#closeRecord();
    }
  }

  /** Call it after the last data. Throws if the message was cut short. */
  end(): void {
    const isWhole = this.#open === undefined && this.#skip === 0 && this.#value === undefined;
    if (!isWhole || this.#means !== 'tag' || this.#scale !== 1) throw new Error('the message is cut short');
  }

  #fill(value: { readonly bytes: Buffer; filled: number }, remainingBytes: Uint8Array): number {
    const usedBytes = Math.min(value.bytes.length - value.filled, remainingBytes.length);
    value.bytes.set(remainingBytes.subarray(0, usedBytes), value.filled);
    value.filled += usedBytes;
    if (value.filled === value.bytes.length) {
      this.#open?.values.set(this.#field, value.bytes);
      this.#value = undefined;
    }
    return usedBytes;
  }

  /** One byte of a number, the lowest seven bits first. */
  #digit(byte: number): void {
    this.#number += (byte & 127) * this.#scale;
    this.#scale *= 128;
    if (this.#scale > 128 ** 10) throw new Error('a number is too long');
    if (byte > 127) return;
    const number = this.#number;
    this.#number = 0;
    this.#scale = 1;
    if (this.#means === 'tag') {
      this.#tag(number);
    } else if (this.#means === 'length') {
      this.#length(number);
    } else {
      this.#means = 'tag';
      if (this.#isWanted()) this.#open?.values.set(this.#field, number);
    }
  }

  #tag(number: number): void {
    this.#fields += 1;
    if (this.#fields > MOST_FIELDS) throw new Error('the message has too many fields');
    this.#field = Math.floor(number / 8);
    const type = number % 8;
    if (type === 0) this.#means = 'value';
    else if (type === 2) this.#means = 'length';
    else if (type === 1) this.#skip = 8;
    else if (type === 5) this.#skip = 4;
    else throw new Error('the message has a field of an unknown type');
  }

  #length(length: number): void {
    this.#means = 'tag';
    if (this.#open === undefined && this.#wanted.has(this.#field)) {
      // The byte that is being read belongs to the length.
      this.#open = { field: this.#field, end: this.#position + 1 + length, values: new Map() };
    } else if (length > 0 && length <= LONGEST_VALUE && this.#isWanted()) {
      this.#value = { bytes: Buffer.alloc(length), filled: 0 };
    } else {
      this.#skip = length;
    }
  }

  #isWanted(): boolean {
    return this.#open !== undefined && this.#wanted.get(this.#open.field)?.has(this.#field) === true;
  }

  #closeRecord(): void {
    const openRecord = this.#open;
    if (openRecord === undefined || this.#position + this.#skip < openRecord.end) return;
    if (this.#position + this.#skip > openRecord.end) throw new Error('a field is longer than its record');
    if (this.#position < openRecord.end) return;
    if (this.#value !== undefined || this.#means !== 'tag' || this.#scale !== 1)
      throw new Error('a field is longer than its record');
    this.#open = undefined;
    this.#take(openRecord.field, openRecord.values);
  }
}
