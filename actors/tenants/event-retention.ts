import type { Store } from '../../runtime/store.ts';
import { isBefore, placeBefore } from './event-cursor.ts';

/**
 * Whether events behind a place were cut off, so that a reader who goes on from there misses them. `oldest`: the place of
 * the oldest that is kept; undefined: there is none. What was erased with its shop counts for nothing.
 */
export async function wereCutOff(
  store: Pick<Store, 'read'>,
  {
    key,
    place,
    oldest,
  }: { readonly key: string; readonly place: string; readonly oldest: string | undefined },
): Promise<boolean> {
  if (oldest === undefined || !isBefore(place, placeBefore(oldest))) return false;
  const facts = await streamFacts(store, key);
  return Number(facts('entries-added')) > Number(facts('length'));
}

/** What Redis says of a stream that exists, of one moment. */
export async function streamFacts(
  store: Pick<Store, 'read'>,
  key: string,
): Promise<(name: 'entries-added' | 'length' | 'last-generated-id') => string | number | undefined> {
  const [facts] = (await store.read([['XINFO', 'STREAM', key]])) as [(string | number)[]];
  return (name) => facts[facts.indexOf(name) + 1];
}
