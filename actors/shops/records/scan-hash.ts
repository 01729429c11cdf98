import type { Store } from '../../../runtime/store.ts';

/**
 * Yields the fields and values of a hash in batches. A field that stays is yielded at least once. `count` is the
 * approximate number of fields that one step reads. Rejects as `Store.read` does.
 */
export async function* scanHash(
  store: Pick<Store, 'read'>,
  key: string,
  count: number,
): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [[next, pairs]] = (await store.read([['HSCAN', key, cursor, 'COUNT', count]])) as [
      [string, string[]],
    ];
    cursor = next;
    yield pairs;
  } while (cursor !== '0');
}
