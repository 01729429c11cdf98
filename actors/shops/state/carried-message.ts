import { shardKey } from '../../../runtime/address.ts';
import type { Write } from '../../../runtime/store.ts';
import { type MessageBody, type MessageState, QUEUED_LIMIT_MS } from './message-record.ts';

/** The data in a pool shop's shard about a message of another shop. */
export interface CarriedRecord {
  /** The content, until the message has ended. Its tenant and shop are the origin's. */
  readonly body: MessageBody | undefined;
  /** None stored: it waits. */
  readonly state: MessageState | undefined;
  /** It was not taken, and never will be. */
  readonly refused: boolean;
  /** Its origin withdrew it while it was being sent: it is not started again, whatever the recall's outcome. */
  readonly withdrawn: boolean;
  /** The policy entry of it, as stored in the shop's list; undefined: stored by an earlier program. */
  readonly entryText?: string | undefined;
}

/**
 * How long a message's state is kept at the pool. The pool ignores all asks after 24 hours. Twice that time covers asks
 * in flight and clocks that differ.
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

/** Removes the content and the policy entry, and keeps the final state. */
export function dropContent(shard: number, messageId: string): Write {
  return ['HDEL', carriedKey(shard, messageId), 'body', 'entry'];
}
