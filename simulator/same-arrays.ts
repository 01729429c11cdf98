import { LRUCache } from 'lru-cache';

/**
 * One array for all that hold the same bytes, of the `most` that were asked for last. The Signal library copies a handset's
 * private keys each time it asks for them, and a key is read once for each array: here it is read once. It remembers keys for
 * longer than whoever uses them, so it is for a process whose keys are all its own.
 */
export function sameArrays(most: number): (bytes: Uint8Array) => Uint8Array {
  const arrays = new LRUCache<string, Uint8Array>({ max: most });
  return (bytes) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const known = arrays.get(text);
    if (known !== undefined) return known;
    arrays.set(text, bytes);
    return bytes;
  };
}
