/**
 * Bits per field, and the number of them that a field sets. One lookup in 460 of a missing field then returns "maybe".
 */
const BITS_PER_FIELD = 16;
const MARKS = 5;
const SMALLEST_FIELDS = 512;

/**
 * The fields that a hash may hold, in two bytes a field (a Bloom filter). A field that it reports missing is missing.
 * A field that it reports present may be missing, more often so once it has more fields than it was made for.
 */
export class KnownFields {
  readonly bits: Uint8Array;

  /** Starts with these bits: of another filter, or all 0. */
  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  /** Returns a filter with these fields, made for twice as many. */
  static of(fields: readonly string[]): KnownFields {
    const mostFields = Math.max(SMALLEST_FIELDS, 2 * fields.length);
    const knownFields = new KnownFields(new Uint8Array(Math.ceil((mostFields * BITS_PER_FIELD) / 8)));
    for (const field of fields) knownFields.add(field);
    return knownFields;
  }

  /** Adds the fields of another filter, which has the same number of bits. */
  addAll(bits: Uint8Array): void {
    for (const [index, byte] of bits.entries()) this.bits[index] = (this.bits[index] ?? 0) | byte;
  }

  add(field: string): void {
    for (const bit of this.#marksOf(field))
      this.bits[bit >>> 3] = (this.bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHold(field: string): boolean {
    return this.#marksOf(field).every((bit) => ((this.bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  /** Double hashing (Kirsch and Mitzenmacher, 2006) over FNV-1a and a variant of it. */
  #marksOf(field: string): number[] {
    let leftHash = 0x811c9dc5;
    let rightHash = 0x9747b28c;
    for (let index = 0; index < field.length; index += 1) {
      const code = field.charCodeAt(index);
      leftHash = Math.imul(leftHash ^ code, 0x01000193);
      rightHash = Math.imul(rightHash ^ code, 0x5bd1e995);
      rightHash ^= rightHash >>> 15;
    }
    const size = this.bits.length * 8;
    const marks: number[] = [];
    for (let mark = 0; mark < MARKS; mark += 1)
      marks.push(((leftHash >>> 0) + mark * ((rightHash | 1) >>> 0)) % size);
    return marks;
  }
}
