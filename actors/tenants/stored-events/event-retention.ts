import type { Store } from '../../../runtime/store.ts';
import { isBefore, placeBefore } from './event-cursor.ts';

/**
 * True if a reader who continues at a position may miss events, because they were removed. `oldest` is the position of
 * the oldest kept event, or undefined if there is none. Events erased with their shop do not count.
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
  const facts = await streamFacts((reads) => store.read(reads), key);
  return Number(facts('entries-added')) > Number(facts('length'));
}

/** Reads what Redis reports about an existing stream, at one moment. */
export async function streamFacts(
  read: Store['read'],
  key: string,
): Promise<(name: 'entries-added' | 'length' | 'last-generated-id') => string | number | undefined> {
  const [facts] = await read([['XINFO', 'STREAM', key]]);
  return (name) => facts[facts.indexOf(name) + 1] as string | number | undefined;
}
