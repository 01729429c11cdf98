import { LRUCache } from 'lru-cache';

/**
 * Returns a function that gives one array for all arrays with the same bytes, for the `mostArrays` latest ones. The
 * Signal library copies a handset's private keys at each use, and parses each new array. With this function it parses a
 * key once. The arrays outlive their users, so use this only in a process that may keep all its keys in memory.
 */
export function sameArrays(mostArrays: number): (bytes: Uint8Array) => Uint8Array {
  const arrays = new LRUCache<string, Uint8Array>({ max: mostArrays });
  return (bytes) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const knownArray = arrays.get(text);
    if (knownArray !== undefined) return knownArray;
    arrays.set(text, bytes);
    return bytes;
  };
}
