import type { Store } from '../../../runtime/store.ts';

/**
 * Yields the fields and values of a hash, some at a time. A field that stays is yielded at least once. `count` is the
 * approximate number of fields that one step reads. Rejects as `Store.read` does.
 */
export async function* scanHash(
  store: Pick<Store, 'read'>,
  key: string,
  count: number,
): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [[next, pairs]] = await store.read([['HSCAN', key, cursor, 'COUNT', count]]);
    cursor = next;
    yield pairs;
  } while (cursor !== '0');
}

/** The fields of one step of `readInSteps`. Redis takes 0.5 ms at the median for 500 fields of 230 bytes. */
const STEP_FIELDS = 500;

/**
 * Returns the flat list of fields and values that `HGETALL` would return, read in steps. For a hash of any size in
 * which no value moves to another field meanwhile: such a value may be missed. A field may be listed twice.
 */
export async function readInSteps(store: Pick<Store, 'read'>, key: string): Promise<string[]> {
  const fields: string[] = [];
  for await (const pairs of scanHash(store, key, STEP_FIELDS)) for (const text of pairs) fields.push(text);
  return fields;
}
