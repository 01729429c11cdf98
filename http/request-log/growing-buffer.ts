const LEAST_BYTES = 512;

/** Characters that are gathered as text before they become bytes: to write one entry costs a call into native code. */
const GATHERED_CHARACTERS = 4_096;

/**
 * Text of ASCII that grows at its end, kept as bytes but for its last pieces: as strings, its thousands of pieces would be
 * carried from one collection of garbage to the next for as long as they wait.
 */
export class GrowingBuffer {
  #bytes = Buffer.allocUnsafe(LEAST_BYTES);
  #length = 0;
  #tail = '';

  /** Adds text of which every character is ASCII. */
  add(text: string): void {
    this.#tail += text;
    if (this.#tail.length >= GATHERED_CHARACTERS) this.#writeTail();
  }

  addAll(other: GrowingBuffer): void {
    this.#writeTail();
    const { bytes } = other;
    this.#makeRoom(bytes.length);
    this.#length += bytes.copy(this.#bytes, this.#length);
  }

  /** What it holds; valid until more is added. */
  get bytes(): Buffer {
    this.#writeTail();
    return this.#bytes.subarray(0, this.#length);
  }

  #writeTail(): void {
    this.#makeRoom(this.#tail.length);
    this.#length += this.#bytes.write(this.#tail, this.#length, 'latin1');
    this.#tail = '';
  }

  #makeRoom(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
