const LEAST_BYTES = 512;

/**
 * Text of ASCII that grows at its end, kept as bytes: as strings, its thousands of pieces would be carried from one
 * collection of garbage to the next for as long as they wait.
 */
export class GrowingBuffer {
  #bytes = Buffer.allocUnsafe(LEAST_BYTES);
  #length = 0;

  /** Adds text of which every character is ASCII. */
  add(text: string): void {
    this.#makeRoom(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  addAll(other: GrowingBuffer): void {
    this.#makeRoom(other.#length);
    this.#length += other.#bytes.copy(this.#bytes, this.#length, 0, other.#length);
  }

  /** What it holds; valid until more is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
