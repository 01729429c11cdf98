import { createDecipheriv, createHash, createHmac, type Hash, hkdfSync } from 'node:crypto';
import type { InboundFile } from '../inbound-content.ts';

/** What the keys of a file are derived for (`MEDIA_HKDF_KEY_MAPPING` of the client). */
const PURPOSES: Readonly<Record<InboundFile['purpose'], string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  audio: 'WhatsApp Audio Keys',
  document: 'WhatsApp Document Keys',
};

/** Bytes of the code behind the ciphertext that proves who sealed it. */
const MAC_BYTES = 10;

/** How many bytes a sealed file has more than the file at most: its padding and its code. */
export const SEALING_BYTES = 16 + MAC_BYTES;

/** Thrown for a file that is not what its message says. */
class BrokenFile extends Error {
  readonly code = 'BROKEN_FILE';
}

/** What opens a file, and what it must be. */
export interface SealedFile extends Pick<InboundFile, 'key' | 'encryptedSha256' | 'purpose'> {
  /** Of the file in the clear, in hexadecimal digits; null: its message does not say. */
  readonly sha256: string | null;
  /** Of the file as it is kept. */
  readonly maxBytes: number;
}

/**
 * Gives a file in the clear, piece by piece, as its sealed pieces come. Nothing of it is kept. Ends by throwing `BrokenFile`
 * where code or digests are not those of the message, so only whoever reads to the end knows that it is the file.
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
  const sealed = createHash('sha256');
  const clear = createHash('sha256');
  let tail = Buffer.alloc(0);
  let size = 0;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > file.maxBytes) throw new BrokenFile('the file is larger than it may be');
    sealed.update(piece);
    // The code is behind the last piece, whichever that is.
    const held = Buffer.concat([tail, piece]);
    const end = Math.max(0, held.byteLength - MAC_BYTES);
    tail = held.subarray(end);
    code.update(held.subarray(0, end));
    const opened = decipher.update(held.subarray(0, end));
    clear.update(opened);
    if (opened.byteLength > 0) yield opened;
  }
  const mustBe = (is: boolean): void => {
    if (!is) throw new BrokenFile('the file is not the one of its message');
  };
  mustBe(code.digest().subarray(0, MAC_BYTES).equals(tail));
  mustBe(digestOf(sealed, 'base64') === file.encryptedSha256);
  const last = decipher.final();
  clear.update(last);
  mustBe(file.sha256 === null || digestOf(clear, 'hex') === file.sha256);
  if (last.byteLength > 0) yield last;
}

function digestOf(hash: Hash, form: 'base64' | 'hex'): string {
  return hash.digest(form);
}
