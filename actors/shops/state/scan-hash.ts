import type { Store } from '../../../runtime/store.ts';

/**
 * Yields the fields and values of a hash in turns, some at a time. A field that stays is yielded once at least. `count`:
 * about how many fields one step reads. Rejects as `Store.read` does.
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
