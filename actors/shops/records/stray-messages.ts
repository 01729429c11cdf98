import { DAY_MS } from '../../../runtime/durations.ts';
import { isObjectId } from '../../../runtime/object-id.ts';
import { partsOf } from '../../../runtime/parts.ts';
import type { Read, Store } from '../../../runtime/store.ts';
import { hashFields } from '../../hash-fields.ts';
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

/** The keys of days older than the present retention that are still stored. */
export async function strayDays(
  keyOf: (day: number) => string,
  { store, retentionMs, nowMs }: StraySources,
): Promise<readonly string[]> {
  const newest = dayOf(nowMs - retentionMs) - 1;
  const oldest = dayOf(nowMs - MOST_DAYS * DAY_MS) - 1;
  const days = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => newest - index);
  const found: string[] = [];
  for (const part of partsOf(days, DAYS_AT_ONCE)) {
    const some = part.map(keyOf);
    const [first, ...rest] = some;
    if (first === undefined) continue;
    const [count] = await store.read([['EXISTS', first, ...rest]]);
    if (count === 0) continue;
    const each = await store.read(some.map((key): Read => ['EXISTS', key]));
    found.push(...some.filter((_, index) => each[index] === 1));
  }
  return found;
}

function bodiesAmong(pairs: readonly string[]): StoredMessage[] {
  return [...hashFields(pairs)].flatMap(([id, body]) => {
    return isObjectId(id) ? (decodeMessage(id, [body, null, null]) ?? []) : [];
  });
}
