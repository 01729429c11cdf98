import type { ApiKeyRecord } from './tenant-record.ts';

/** Values of one key that are remembered after their rotation; some 6 KB a key at most. */
const RETIRED_HASHES = 100;

/** Returns the hashes of the oldest retired values: those that leave the record when the key is rotated next. */
export function hashesToForget({
  retiredHashes = [],
}: Pick<ApiKeyRecord, 'retiredHashes'>): readonly string[] {
  return retiredHashes.slice(RETIRED_HASHES - 1);
}
