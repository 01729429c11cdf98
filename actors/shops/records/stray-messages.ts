import { isObjectId } from '../../../runtime/object-id.ts';
import { partsOf } from '../../../runtime/parts.ts';
import { hashFields, type Store } from '../../../runtime/store.ts';
import { dayKey, dayOf, type Retention } from './message-days.ts';
import { decodeMessage, type StoredMessage } from './message-record.ts';
import { scanHash } from './scan-hash.ts';

/** The longest that `MESSAGE_RETENTION_DAYS` may be. */
const MOST_DAYS = 3_650;
/** Days in one command. */
const DAYS_AT_ONCE = 365;
/** Fields that one step reads, at most three a message. */
const SCAN_COUNT = 100;

/** The store and the time by which stray messages are found. */
export interface StraySources extends Retention {
  readonly store: Pick<Store, 'read'>;
}

/** The days that are searched, in whole days since the Unix epoch. */
interface SearchedDays extends Pick<StraySources, 'store'> {
  readonly newestDay: number;
  readonly today: number;
}

/**
 * Yields the messages of a shard that no shop's list names, some at a time. They exist only if the retention was longer
 * before. A list is cut by the present retention, and a day expires by its former one. Rejects as `Store.read` does.
 */
export async function* strayMessages(
  shard: number,
  sources: StraySources,
): AsyncGenerator<readonly StoredMessage[]> {
  const { store } = sources;
  for (const key of await strayDays((day) => dayKey(shard, day), sources)) {
    for await (const pairs of scanHash(store, key, SCAN_COUNT)) yield bodiesAmong(pairs);
  }
}

/** Returns the keys of days older than the present retention that are still stored. */
export async function strayDays(
  keyOf: (day: number) => string,
  { store, retentionMs, nowMs }: StraySources,
): Promise<readonly string[]> {
  const newestDay = dayOf(nowMs - retentionMs) - 1;
  const days = await storedDays(keyOf, { store, newestDay, today: dayOf(nowMs) });
  return days.map(keyOf);
}

/** Returns the days up to `newestDay` whose keys are stored, newest first. Rejects as `Store.read` does. */
export async function storedDays(
  keyOf: (day: number) => string,
  { store, newestDay, today }: SearchedDays,
): Promise<readonly number[]> {
  const oldestDay = today - MOST_DAYS - 1;
  const days = Array.from(
    { length: Math.max(0, newestDay - oldestDay + 1) },
    (_, index) => newestDay - index,
  );
  const foundDays: number[] = [];
  for (const part of partsOf(days, DAYS_AT_ONCE)) {
    const keys = part.map(keyOf);
    const [first, ...otherKeys] = keys;
    if (first === undefined) continue;
    const [count] = await store.read([['EXISTS', first, ...otherKeys]]);
    if (count === 0) continue;
    const counts = await store.read(keys.map((key) => ['EXISTS', key]));
    foundDays.push(...part.filter((_, index) => counts[index] === 1));
  }
  return foundDays;
}

function bodiesAmong(pairs: readonly string[]): StoredMessage[] {
  return [...hashFields(pairs)].flatMap(([id, body]) => {
    return isObjectId(id) ? (decodeMessage(id, [body, null, null]) ?? []) : [];
  });
}
