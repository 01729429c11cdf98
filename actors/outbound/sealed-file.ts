import { createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import type { InboundFile } from '../inbound-content.ts';

/** The purposes that the keys of files are derived for (`MEDIA_HKDF_KEY_MAPPING` of the client). */
const PURPOSES: Readonly<Record<InboundFile['purpose'], string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
};

/** Bytes of the authentication code after the ciphertext. */
const MAC_BYTES = 10;

/** How many bytes a sealed file has more than the file at most: its padding and its code. */
export const SEALING_BYTES = 16 + MAC_BYTES;

/** Thrown for a file that differs from its message's facts. */
class BrokenFile extends Error {
  readonly code = 'BROKEN_FILE';
}

/** The key of a file, and the facts that it must match. */
export interface SealedFile extends Pick<InboundFile, 'key' | 'encryptedSha256' | 'purpose'> {
  /** Hash of the opened file, in hexadecimal digits; null if its message has none. */
  readonly sha256: string | null;
  /** The largest size of the sealed file. */
  readonly maxBytes: number;
}

/**
 * Yields the decrypted file piece by piece as its sealed pieces come, and keeps none of it. Throws `BrokenFile` at the
 * end if the code or a digest does not match the message. So a reader knows only at the end that it is the right file.
 */
export async function* openSealedFile(
  pieces: AsyncIterable<Buffer>,
  file: SealedFile,
): AsyncGenerator<Buffer> {
  const keys = Buffer.from(
    hkdfSync('sha256', Buffer.from(file.key, 'base64'), '', PURPOSES[file.purpose], 112),
  );
  const iv = keys.subarray(0, 16);
  const decipher = createDecipheriv('aes-256-cbc', keys.subarray(16, 48), iv);
  const code = createHmac('sha256', keys.subarray(48, 80)).update(iv);
  const sealedHash = createHash('sha256');
  const clear = createHash('sha256');
  let tail = Buffer.alloc(0);
  let size = 0;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > file.maxBytes) throw new BrokenFile('the file is larger than it may be');
    sealedHash.update(piece);
    // The code is at the end of the data, in any number of pieces.
    const bytesHeld = Buffer.concat([tail, piece]);
    const end = Math.max(0, bytesHeld.byteLength - MAC_BYTES);
    tail = bytesHeld.subarray(end);
    code.update(bytesHeld.subarray(0, end));
    const openedBytes = decipher.update(bytesHeld.subarray(0, end));
    clear.update(openedBytes);
    if (openedBytes.byteLength > 0) yield openedBytes;
  }
  const mustBe = (isTrue: boolean): void => {
    if (!isTrue) throw new BrokenFile('the file is not the one of its message');
  };
  mustBe(code.digest().subarray(0, MAC_BYTES).equals(tail));
  mustBe(sealedHash.digest('base64') === file.encryptedSha256);
  const lastBytes = decipher.final();
  clear.update(lastBytes);
  mustBe(file.sha256 === null || clear.digest('hex') === file.sha256);
  if (lastBytes.byteLength > 0) yield lastBytes;
}
