import type { SignalDataSet, SignalKeyStore } from '@whiskeysockets/baileys';

/**
 * Stores the ids of numbers from a part of a phone's history. A part may be taken a week late, so the session's own
 * facts are newer: neither a known number nor a known id changes. The entries bypass the client's own cache, which
 * keeps every reported entry.
 */
export async function storeMappings(
  {
    keys,
    storeNow,
  }: { readonly keys: Pick<SignalKeyStore, 'get'>; storeNow(data: SignalDataSet): Promise<void> },
  mappings: readonly (readonly [number: string, lid: string])[],
): Promise<void> {
  const known = await keys.get(
    'lid-mapping',
    mappings.flatMap(([number, lid]) => [number, reverse(lid)]),
  );
  const fresh: Record<string, string> = {};
  for (const [number, lid] of mappings) {
    if (known[number] !== undefined || known[reverse(lid)] !== undefined) continue;
    fresh[number] = lid;
    fresh[reverse(lid)] = number;
  }
  if (Object.keys(fresh).length > 0) await storeNow({ 'lid-mapping': fresh });
}

/** The field under which the client keeps whose id it is. */
function reverse(lid: string): string {
  return `${lid}_reverse`;
}
