import type { SealedHash, StoreAnswer, StoreRequest } from '../../worker-protocol.ts';
import type { FieldCipher } from './field-cipher.ts';
import { PendingChange } from './pending-change.ts';

interface ResealOptions {
  readonly cipher: FieldCipher;
  readonly survey: (
    request: Extract<StoreRequest, { readonly kind: 'survey' }>,
  ) => Promise<Extract<StoreAnswer, { readonly kind: 'surveyed' }>>;
  readonly put: (change: PendingChange) => Promise<void>;
}

/**
 * Seals every value of a hash again that an older key sealed, part by part. Resolves with the names of all fields.
 * Rejects like a read or a write.
 */
export async function resealHash(
  hash: SealedHash,
  { cipher, survey, put }: ResealOptions,
): Promise<readonly string[]> {
  const { head } = cipher;
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const part = await survey({ kind: 'survey', hash, head, from: cursor });
    const values = part.others.map(([field, value]) => [field, cipher.open(hash, field, value)] as const);
    names.push(...part.fields);
    cursor = part.next;
    if (values.length === 0) continue;
    const change = new PendingChange();
    change.add(hash, { fields: cipher.seal(hash, new Map(values)) });
    await put(change);
  } while (cursor !== undefined);
  return names;
}
