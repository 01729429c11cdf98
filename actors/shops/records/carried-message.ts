import { shardKey } from '../../../runtime/address.ts';
import type { Read, Store, Write } from '../../../runtime/store.ts';
import { type MessageBody, type MessageState, QUEUED_LIMIT_MS } from './message-record.ts';

/** The data in a pool shop's shard about a message of another shop. */
export interface CarriedRecord {
  /** The content, until the message has ended. Its tenant and shop are the origin's. */
  readonly body: MessageBody | undefined;
  /** Undefined if no state is stored: the message waits, or was refused. */
  readonly state: MessageState | undefined;
  /** True if it was not taken, and never will be. */
  readonly isRefused: boolean;
  /** True if its origin withdrew it while it was being sent. If it comes back unsent, it ends. */
  readonly isWithdrawn: boolean;
  /** Its policy entry, as stored in the shop's list, until the message has ended. */
  readonly entryText?: string | undefined;
}

/**
 * How long a message's state is kept at the pool. The pool takes no message that is older than 24 hours. Twice that
 * time covers requests under way and clocks that differ.
 */
const STATE_KEPT_MS = 2 * QUEUED_LIMIT_MS;

/**
 * Returns the key of a carried message's hash. It is separate from the origin's own record, even if both are in one
 * shard.
 */
export function carriedKey(shard: number, messageId: string): string {
  return shardKey(shard, 'carried', messageId);
}

/** The fields of the hash, in the order `decodeCarried` reads them. */
const FIELDS = ['body', 'state', 'refused', 'withdrawn', 'entry'] as const;

/** Returns the read of a carried message; `decodeCarried` decodes the answer. */
export function carriedRead(shard: number, messageId: string): Read<'HMGET'> {
  return ['HMGET', carriedKey(shard, messageId), ...FIELDS];
}

/** Reads carried messages in the order of their ids. An entry is undefined if the shard has no record of it. */
export async function readCarried(
  shard: number,
  messageIds: readonly string[],
  store: Pick<Store, 'read'>,
): Promise<(CarriedRecord | undefined)[]> {
  if (messageIds.length === 0) return [];
  const replies = await store.read(messageIds.map((id) => carriedRead(shard, id)));
  return replies.map(decodeCarried);
}

/** Reads a carried message back, or undefined if the shard has no record of it. */
export function decodeCarried(fields: readonly (string | null)[]): CarriedRecord | undefined {
  const [body, state, refusalText, withdrawalText, entry] = fields;
  if (!body && !state && !refusalText) return undefined;
  return {
    body: body ? (JSON.parse(body) as MessageBody) : undefined,
    state: state ? (JSON.parse(state) as MessageState) : undefined,
    isRefused: Boolean(refusalText),
    isWithdrawn: Boolean(withdrawalText),
    entryText: entry ?? undefined,
  };
}

/** Stores one field of a carried message, with the retention of its state. */
export function carriedWrites(
  shard: number,
  message: { readonly id: string; readonly createdAtMs: number },
  field: (typeof FIELDS)[number],
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
