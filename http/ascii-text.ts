const LEAST_BYTES = 512;

const ZERO = 48;
const POINT = 46;

/**
 * Text of ASCII that grows at its end, kept as bytes: as strings, its thousands of pieces would be carried from one
 * collection of garbage to the next for as long as they wait, and encoded in the end all the same.
 */
export class AsciiText {
  #bytes: Buffer = Buffer.allocUnsafe(LEAST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds text of which every character is ASCII. Short text: it is copied character by character. */
  add(text: string): void {
    this.#makeRoom(text.length);
    const bytes = this.#bytes;
    let place = this.#length;
    for (let index = 0; index < text.length; index += 1) {
      bytes[place] = text.charCodeAt(index);
      place += 1;
    }
    this.#length = place;
  }

  /** Adds text that is bytes already. */
  addBytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Adds a number from 0 as JSON writes it, with two decimals at most. */
  addHundredths(value: number): void {
    const hundredths = Math.round(value * 100);
    this.add(String(Math.floor(hundredths / 100)));
    const decimals = hundredths % 100;
    if (decimals === 0) return;
    this.#makeRoom(3);
    this.#bytes[this.#length] = POINT;
    this.#bytes[this.#length + 1] = ZERO + Math.floor(decimals / 10);
    this.#bytes[this.#length + 2] = ZERO + (decimals % 10);
    this.#length += decimals % 10 === 0 ? 2 : 3;
  }

  /** What it holds; valid until more is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** What it held, in memory of its own; it is empty then. */
  takeBytes(): Buffer {
    const taken = Buffer.from(this.bytes);
    this.#length = 0;
    return taken;
  }

  #makeRoom(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
