import { type PolicyVerdict, verdictJson } from '../../../policy/verdict.ts';
import type { Write } from '../../../runtime/store.ts';
import type { MessageReason, MessageStatus } from '../../message-status.ts';
import { messageKey } from './shop-keys.ts';
import type { MessageView } from './shop-operations.ts';

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
  readonly reason: MessageReason | null;
  readonly updatedAtMs: number;
  readonly sentAtMs: number | null;
}

/** No message stays queued longer than this (docs/contract.md, Message states): EXPIRED. */
export const QUEUED_LIMIT_MS = 24 * 3_600_000;

/** How long messages and idempotency keys are kept unless configured (docs/contract.md, Retention). */
export const MESSAGE_RETENTION_MS = 30 * 24 * 3_600_000;

/** Stores what was accepted. Its state needs no write of its own: none stored means queued. */
export function bodyWrites(shard: number, body: MessageBody, retentionMs: number): Write[] {
  const key = messageKey(shard, body.id);
  return [
    ['HSET', key, 'body', encodeBody(body)],
    ['PEXPIREAT', key, body.createdAtMs + retentionMs],
  ];
}

/** What `JSON.stringify` makes of it, in two thirds of its time: only what callers wrote can need escaping. */
export function encodeBody(body: MessageBody): string {
  const { id, tenantId, shopId, kind, to, text, mediaUrl, mediaType, via, policy, wireId } = body;
  return (
    `{"id":"${id}","tenantId":"${tenantId}","shopId":"${shopId}","kind":"${kind}","to":${quoted(to)},` +
    `"text":${quoted(text)},"mediaUrl":${quoted(mediaUrl)},"mediaType":${quoted(mediaType)},"via":"${via}",` +
    `"policy":${policy === null ? 'null' : verdictJson(policy)},"createdAtMs":${body.createdAtMs},` +
    `"wireId":"${wireId}","idempotencyKey":${quoted(body.idempotencyKey)}}`
  );
}

/** The JSON of a text, or of none. */
export function quoted(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text);
}

/** Stores what became of a message. */
export function stateWrite(shard: number, messageId: string, state: MessageState): Write {
  return ['HSET', messageKey(shard, messageId), 'state', JSON.stringify(state)];
}

/** A message as it is stored: `body` and `state`. */
export type MessageFields = readonly (string | null)[];

/** Reads a message back from its two fields; undefined when it is gone. */
export function decodeMessage(fields: MessageFields): { body: MessageBody; state: MessageState } | undefined {
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
  const createdAt = new Date(body.createdAtMs).toISOString();
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
    createdAt,
    updatedAt: state.updatedAtMs === body.createdAtMs ? createdAt : new Date(state.updatedAtMs).toISOString(),
    sentAt: state.sentAtMs === null ? null : new Date(state.sentAtMs).toISOString(),
  };
}

/** Where a caller reads what becomes of a message (docs/contract.md, Accepted response fields). */
export function statusUrl(messageId: string): string {
  return `/api/v1/messages/${messageId}`;
}
