import type { PolicyVerdict } from '../../policy/verdict.ts';
import type { Write } from '../../runtime/store.ts';
import { messageKey } from './shop-keys.ts';
import type { MessageStatus, MessageView } from './shop-operations.ts';

/** What was accepted; written once. Times in milliseconds since the Unix epoch. */
export interface MessageBody {
  readonly id: string;
  readonly tenantId: string;
  readonly shopId: string;
  readonly kind: 'message' | 'status';
  readonly to: string | null;
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  readonly via: 'shop' | 'pool';
  readonly policy: PolicyVerdict | null;
  readonly createdAtMs: number;
  /** The network's id of the stanza, made before it is sent. */
  readonly wireId: string;
  readonly idempotencyKey: string | null;
}

/** What became of it. */
export interface MessageState {
  readonly status: MessageStatus;
  readonly reason: string | null;
  readonly updatedAtMs: number;
  readonly sentAtMs: number | null;
}

/** No message stays queued longer than this (DESIGN section 3): EXPIRED. */
export const QUEUED_LIMIT_MS = 24 * 3_600_000;

/** How long messages and idempotency keys are kept unless configured (DESIGN section 4: Retention). */
export const MESSAGE_RETENTION_MS = 30 * 24 * 3_600_000;

/** Stores what was accepted. Its state needs no write of its own: none stored means queued. */
export function bodyWrites(shard: number, body: MessageBody, retentionMs: number): Write[] {
  const key = messageKey(shard, body.id);
  return [
    ['HSET', key, 'body', JSON.stringify(body)],
    ['PEXPIREAT', key, body.createdAtMs + retentionMs],
  ];
}

/** Stores what became of a message. */
export function stateWrite(shard: number, messageId: string, state: MessageState): Write {
  return ['HSET', messageKey(shard, messageId), 'state', JSON.stringify(state)];
}

/** Reads a message back from its two fields; undefined when it is gone. */
export function decodeMessage(
  fields: readonly (string | null)[],
): { body: MessageBody; state: MessageState } | undefined {
  const [bodyText, stateText] = fields;
  if (!bodyText) return undefined;
  const body = JSON.parse(bodyText) as MessageBody;
  const state: MessageState = stateText
    ? (JSON.parse(stateText) as MessageState)
    : { status: 'queued', reason: null, updatedAtMs: body.createdAtMs, sentAtMs: null };
  return { body, state };
}

/** As the API shows it. */
export function messageView(body: MessageBody, state: MessageState): MessageView {
  return {
    id: body.id,
    shopId: body.shopId,
    channel: 'msgapp',
    to: body.to,
    kind: body.kind,
    text: body.text,
    mediaUrl: body.mediaUrl,
    mediaType: body.mediaType,
    status: state.status,
    reason: state.reason,
    via: body.via,
    policy: body.policy,
    createdAt: new Date(body.createdAtMs).toISOString(),
    updatedAt: new Date(state.updatedAtMs).toISOString(),
    sentAt: state.sentAtMs === null ? null : new Date(state.sentAtMs).toISOString(),
  };
}

/** Where a caller reads what becomes of a message (SPEC: Accepted response fields). */
export function statusUrl(messageId: string): string {
  return `/api/v1/messages/${messageId}`;
}
