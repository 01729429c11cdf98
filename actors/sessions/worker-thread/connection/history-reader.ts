import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { getMediaKeys, type proto } from '@whiskeysockets/baileys';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { askNetworkFile, type DownloadBounds, DownloadRefused } from '../../../outbound/network-file.ts';
import { HistoryFacts } from './history-facts.ts';

/** The largest part of a history, in bytes as it is sent and as it was before its compression. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_INFLATED_BYTES = 256 * 1024 * 1024;

/** The time that one part may take, in milliseconds. */
const READ_MS = 2 * MINUTE_MS;

/** The start of the HMAC follows the ciphertext of a file. */
const MAC_BYTES = 10;

/**
 * Downloads one part of a phone's history, or takes it from the message, and reads its facts. It holds only a few
 * kilobytes and the facts in memory. Rejects if the part is too large, damaged, or not at the network's own hosts.
 */
export async function readHistory(
  notice: proto.Message.IHistorySyncNotification,
  bounds: DownloadBounds,
  endSignal: AbortSignal,
): Promise<HistoryFacts> {
  const signal = AbortSignal.any([endSignal, AbortSignal.timeout(READ_MS)]);
  const facts = new HistoryFacts();
  const inline = notice.initialHistBootstrapInlinePayload;
  if (inline != null && inline.length > 0) {
    await pipeline(Readable.from([inline]), createInflate(), readerOf(facts), { signal });
    return facts;
  }
  const { directPath, mediaKey, fileEncSha256 } = notice;
  if (directPath == null || mediaKey == null || fileEncSha256 == null)
    throw new DownloadRefused('the history has no file');
  const { cipherKey, iv } = await getMediaKeys(mediaKey, 'md-msg-hist');
  const response = await askNetworkFile(directPath, bounds, { maxBytes: MOST_BYTES, signal });
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  await pipeline(response, ciphertextOf(fileEncSha256), decipher, createInflate(), readerOf(facts), {
    signal,
  });
  return facts;
}

/** Receives the inflated data. A generator would need less code, but its `pipeline` hides the cause of a failure. */
function readerOf(facts: HistoryFacts): Writable {
  let size = 0;
  return new Writable({
    write(chunk: Buffer, _encoding, callback) {
      size += chunk.length;
      if (size > MOST_INFLATED_BYTES)
        return callback(new DownloadRefused('the history is too large', 'too_large'));
      callback(failureOf(() => facts.push(chunk)));
    },
    final: (callback) => callback(failureOf(() => facts.end())),
  });
}

function failureOf(read: () => void): Error | null {
  try {
    read();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Passes on a file without its last bytes. Fails if it is too large or differs from its digest. */
function ciphertextOf(sha256: Uint8Array): Transform {
  const hash = createHash('sha256');
  let size = 0;
  let bytesHeld: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      size += chunk.length;
      if (size > MOST_BYTES) return callback(new DownloadRefused('the file is too large', 'too_large'));
      hash.update(chunk);
      const bytes = bytesHeld.length === 0 ? chunk : Buffer.concat([bytesHeld, chunk]);
      const end = Math.max(0, bytes.length - MAC_BYTES);
      bytesHeld = bytes.subarray(end);
      callback(null, bytes.subarray(0, end));
    },
    flush(callback) {
      const digest = hash.digest();
      const isSame = sha256.length === digest.length && timingSafeEqual(sha256, digest);
      callback(isSame ? null : new DownloadRefused('the file is another than the phone named'));
    },
  });
}
