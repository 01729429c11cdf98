/** The client's opening bytes: "WA", protocol 6, dictionary 3 (Baileys `NOISE_WA_HEADER`). */
export const INTRO_HEADER = Buffer.from([0x57, 0x41, 0x06, 0x03]);

/** Routing bytes may precede the header: "ED", 0, 1, a 3-byte length and the bytes. */
const ROUTING_MARK = Buffer.from([0x45, 0x44, 0x00, 0x01]);

/** Returns the payload with its 3-byte big-endian length in front. */
export function frame(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(3 + payload.byteLength);
  frame.writeUIntBE(payload.byteLength, 0, 3);
  frame.set(payload, 3);
  return frame;
}

/** Splits the client's byte stream into the payloads of its frames. The stream begins with the intro header. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #hasReadIntro = false;

  /** Takes more bytes and returns every payload that is complete now. Throws if the intro is not a client's. */
  push(bytes: Buffer): Buffer[] {
    this.#bytes = this.#bytes.byteLength === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    if (!this.#hasReadIntro && !this.#readIntro()) return [];
    const payloads: Buffer[] = [];
    while (this.#bytes.byteLength >= 3) {
      const end = 3 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.byteLength < end) break;
      payloads.push(this.#bytes.subarray(3, end));
      this.#bytes = this.#bytes.subarray(end);
    }
    return payloads;
  }

  #readIntro(): boolean {
    let start = 0;
    if (this.#bytes.byteLength < ROUTING_MARK.byteLength) return false;
    if (this.#bytes.subarray(0, ROUTING_MARK.byteLength).equals(ROUTING_MARK)) {
      if (this.#bytes.byteLength < 7) return false;
      start = 7 + this.#bytes.readUIntBE(4, 3);
    }
    const end = start + INTRO_HEADER.byteLength;
    if (this.#bytes.byteLength < end) return false;
    if (!this.#bytes.subarray(start, end).equals(INTRO_HEADER))
      throw new Error('not a chat client: wrong intro header');
    this.#bytes = this.#bytes.subarray(end);
    this.#hasReadIntro = true;
    return true;
  }
}
