/**
 * Sends that wait for their time. A shop's hash has the due time of each, which its actor keeps in memory. It also has
 * the id under a digest of its idempotency key. A second hash has the content to send. An ended send is in a hash of
 * the day on which it ended.
 */
import { hashFields, type Write } from '../../../runtime/store.ts';
import type { FailureCode } from '../../failure.ts';
import { NO_DRAFT } from '../message-content.ts';
import { dayEndsMs, dayOf, keptDays, type Retention } from '../records/message-days.ts';
import { isKeyField, keyField, type ShopKeys } from '../records/shop-keys.ts';
import type { AskedPart, CallerDraft, ScheduledEnd } from '../shop-operations.ts';

/** A send that waits for its time. */
export interface ScheduledSend {
  readonly id: string;
  readonly sendAtMs: number;
  /** After this time there is no further attempt. */
  readonly notAfterMs: number;
  /** The time of the next attempt. It is not stored, so after a restart a due send is attempted at once. */
  readonly tryAtMs: number;
  /** Why it was refused last. Not stored. */
  readonly lastCode?: FailureCode;
}

/** The content to send, as it is stored. */
export type ScheduledDraft = CallerDraft & {
  readonly sendAtMs: number;
  readonly notAfterMs: number;
  readonly createdAtMs: number;
  /**
   * A digest of recipient and content, under a key that is not in Redis. It is kept after the content is removed, so
   * that a replay can be compared. Absent if the send has no idempotency key, or 0.2.0 stored it.
   */
  readonly contentDigest?: string;
};

type Keys = Pick<ShopKeys, 'shop' | 'scheduled' | 'scheduledDrafts'>;

/** Stores a send that waits. */
export function scheduledWrites(keys: Keys, id: string, draft: ScheduledDraft): Write[] {
  const { sendAtMs, notAfterMs, idempotencyKey } = draft;
  const keyFields = idempotencyKey === undefined ? [] : [keyField(idempotencyKey), id];
  return [
    ['HSET', keys.scheduled, id, `${sendAtMs} ${notAfterMs}`, ...keyFields],
    ['HSET', keys.scheduledDrafts, id, JSON.stringify(draft)],
  ];
}

/** Stores its end and removes its content. */
export function endWrites(
  keys: Keys,
  { id, draft, end }: { readonly id: string; readonly draft: ScheduledDraft; readonly end: ScheduledEnd },
  { nowMs, retentionMs }: Retention,
): Write[] {
  const { idempotencyKey } = draft;
  const day = dayOf(nowMs);
  const key = endedKey(keys, day);
  const keyFields = idempotencyKey === undefined ? [] : [keyField(idempotencyKey)];
  const draftWithoutContent = withoutContent(draft);
  return [
    ['HDEL', keys.scheduled, id, ...keyFields],
    ['HDEL', keys.scheduledDrafts, id],
    [
      'HSET',
      key,
      id,
      JSON.stringify({ draft: draftWithoutContent, end }),
      ...keyFields.flatMap((field) => [field, id]),
    ],
    ['PEXPIREAT', key, dayEndsMs(day, retentionMs)],
  ];
}

/** The fields that the end removes. If callers can ask for a new part, it does not compile without a line here. */
const REMOVED: typeof NO_DRAFT & {
  readonly [Part in Exclude<AskedPart, 'to' | 'reply' | 'content'>]: undefined;
} = NO_DRAFT;

/** Returns the part that is kept after the end: all but the content. */
export function withoutContent(draft: ScheduledDraft): ScheduledDraft {
  return { ...draft, ...REMOVED };
}

/** Returns the key of the sends that ended on a day. */
export function endedKey({ shop }: Pick<Keys, 'shop'>, day: number): string {
  return `${shop}:scheduled-ended:${day}`;
}

/** Returns the keys of ended sends of all kept days. */
export function endedKeys(keys: Pick<Keys, 'shop'>, retention: Retention): string[] {
  return keptDays(retention).map((day) => endedKey(keys, day));
}

/** Returns the sends that wait, oldest first, from the fields and values of their hash. */
export function decodeScheduled(fields: readonly string[]): ScheduledSend[] {
  const sends = [...hashFields(fields)].flatMap(([id, times]): ScheduledSend[] => {
    const [sendAtMs = 0, notAfterMs = 0] = times.split(' ').map(Number);
    return isKeyField(id) ? [] : [{ id, sendAtMs, notAfterMs, tryAtMs: sendAtMs }];
  });
  return sends.sort((left, right) => (left.id < right.id ? -1 : 1));
}
