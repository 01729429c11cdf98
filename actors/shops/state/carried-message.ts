import { shardKey } from '../../../runtime/address.ts';
import type { Write } from '../../../runtime/store.ts';
import { type MessageBody, type MessageState, QUEUED_LIMIT_MS } from './message-record.ts';

/** What a pool shop's shard holds about a message of another shop. */
export interface CarriedRecord {
  /** What it sends, while it has not ended. Its tenant and shop are the origin's. */
  readonly body: MessageBody | undefined;
  /** None stored: it waits. */
  readonly state: MessageState | undefined;
  /** It was not taken, and never will be. */
  readonly refused: boolean;
  /** Its origin took it back while it was in hand: it is not started again, whatever the recall's outcome. */
  readonly withdrawn: boolean;
  /** What the policy counted for it, as it stands in the shop's list; undefined: stored by an earlier program. */
  readonly entryText?: string | undefined;
}

/**
 * How long after a message was made its state is kept at the pool. The pool heeds no ask after 24 hours; twice that
 * covers asks under way and clocks that differ.
 */
const STATE_KEPT_MS = 2 * QUEUED_LIMIT_MS;

/** A carried message's hash, beside the origin's own record also where both lie in one shard. */
export function carriedKey(shard: number, messageId: string): string {
  return shardKey(shard, 'carried', messageId);
}

/** The fields of the hash, in the order `decodeCarried` reads them. */
export const CARRIED_FIELDS = ['body', 'state', 'refused', 'withdrawn', 'entry'] as const;

/** Reads a carried message back; undefined when the shard never heard of it. */
export function decodeCarried(fields: readonly (string | null)[]): CarriedRecord | undefined {
  const [body, state, refused, withdrawn, entry] = fields;
  if (!body && !state && !refused) return undefined;
  return {
    body: body ? (JSON.parse(body) as MessageBody) : undefined,
    state: state ? (JSON.parse(state) as MessageState) : undefined,
    refused: Boolean(refused),
    withdrawn: Boolean(withdrawn),
    entryText: entry ?? undefined,
  };
}

/** Stores one field of a carried message, for as long as its state is kept. */
export function carriedWrites(
  shard: number,
  message: { readonly id: string; readonly createdAtMs: number },
  field: (typeof CARRIED_FIELDS)[number],
  value: string,
): Write[] {
  const key = carriedKey(shard, message.id);
  return [
    ['HSET', key, field, value],
    ['PEXPIREAT', key, message.createdAtMs + STATE_KEPT_MS],
  ];
}

/** Takes away the content, and whom it counted for, and leaves what became of it. */
export function dropContent(shard: number, messageId: string): Write {
  return ['HDEL', carriedKey(shard, messageId), 'body', 'entry'];
}
