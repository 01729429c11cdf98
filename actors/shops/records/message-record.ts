import { isGroupId, isNetworkId } from '../../../policy/recipient.ts';
import type { PolicyVerdict } from '../../../policy/verdict.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { API_BASE_PATH } from '../../base-path.ts';
import { isoOrNull } from '../../iso-time.ts';
import type { MessageReason, MessageStatus } from '../../message-status.ts';
import { presentFields } from '../../present-fields.ts';
import { type MessageContent, NO_CONTENT } from '../message-content.ts';
import type { AnsweredMessage, MessageView } from '../shop-operations.ts';
import { decodeReceipts, type MessageReceipts } from './message-receipts.ts';

/**
 * A message as it was accepted. It is written again only if a message for the pool is sent by its own shop, or if its
 * recipient is erased. Times in milliseconds since the Unix epoch.
 */
export interface MessageBody extends MessageContent {
  readonly id: string;
  readonly tenantId: string;
  readonly shopId: string;
  readonly kind: 'message' | 'status';
  /** E.164 with plus, or a group id; of a reply also the network's own id of a person. */
  readonly to: string | null;
  /** For a reply: the message it answers. */
  readonly reply: AnsweredMessage | undefined;
  /** The id of its batch. Undefined if it belongs to none. */
  readonly batchId: string | undefined;
  readonly via: 'shop' | 'pool';
  readonly policy: PolicyVerdict | null;
  readonly createdAtMs: number;
  /** The network's id of the stanza, made before it is sent. */
  readonly wireId: string;
  readonly idempotencyKey: string | null;
  /** The request id of the call that made it. Null if 0.1.0 stored it. */
  readonly requestId: string | null;
  /** The W3C trace context of that call, or null if it had none. */
  readonly traceparent: string | null;
}

/** The fields that each message has. */
type FixedField = 'id' | 'tenantId' | 'shopId' | 'kind' | 'via' | 'createdAtMs' | 'wireId';

/** All fields but these, without a value: null or undefined, as their type says. */
type EmptyBut<Kept extends keyof MessageBody> = {
  readonly [Field in Exclude<keyof MessageBody, Kept>]: null extends MessageBody[Field] ? null : undefined;
};

/** The fields that stay when the recipient is erased: those that the service sets, and those about the call. */
type KeptField = FixedField | 'batchId' | 'policy' | 'idempotencyKey' | 'requestId' | 'traceparent';

/**
 * The other fields, as they are after the erasure. A new field of a message that is in neither list does not compile.
 */
const ERASED_FIELDS: EmptyBut<KeptField> = { to: null, reply: undefined, ...NO_CONTENT };

/** The fields that are not stored without a value. A new field that is missing here does not compile. */
const EMPTY_FIELDS: EmptyBut<FixedField> = {
  ...ERASED_FIELDS,
  batchId: undefined,
  policy: null,
  idempotencyKey: null,
  requestId: null,
  traceparent: null,
};
const EMPTY_NAMES = Object.keys(EMPTY_FIELDS) as readonly (keyof typeof EMPTY_FIELDS)[];

/** Returns what is kept of a message when its recipient is erased: neither the recipient nor the content. */
export function withoutRecipient(body: MessageBody): MessageBody {
  return { ...body, ...ERASED_FIELDS };
}

/** The present state of a message. */
export interface MessageState {
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  readonly updatedAtMs: number;
  readonly sentAtMs: number | null;
}

/** No message stays queued longer than this (docs/contract.md, Message states): EXPIRED. */
export const QUEUED_LIMIT_MS = DAY_MS;

/**
 * Returns the stored form of an accepted message: JSON without its id, which the field name has, and without absent
 * values. The code writes most of it without `JSON.stringify`, in two thirds of the time: only callers' values can need
 * escaping.
 */
export function encodeBody(body: MessageBody): string {
  const { tenantId, shopId, kind, to, text, mediaUrl, mediaType, via, wireId, idempotencyKey } = body;
  const { requestId, traceparent, policy } = body;
  // Piece after piece: parts that are put together first would each be one piece more.
  let json = `{"tenantId":"${tenantId}","shopId":"${shopId}${WORDS[kind][via]}${body.createdAtMs},"wireId":"${wireId}"`;
  if (to !== null) json = `${json},"to":"${escapeText(to)}"`;
  if (text !== null) json = `${json},"text":"${escapeText(text)}"`;
  if (mediaUrl !== null) json = `${json},"mediaUrl":"${escapeText(mediaUrl)}"`;
  if (mediaType !== null) json = `${json},"mediaType":"${mediaType}"`;
  if (policy !== null) json = `${json},"policy":${JSON.stringify(policy)}`;
  if (idempotencyKey !== null) json = `${json},"idempotencyKey":"${escapeText(idempotencyKey)}"`;
  if (body.reply !== undefined) json = `${json},"reply":${JSON.stringify(body.reply)}`;
  if (body.batchId !== undefined) json = `${json},"batchId":"${body.batchId}"`;
  if (traceparent !== null) json = `${json},"traceparent":"${traceparent}"`;
  return requestId === null ? `${json}}` : `${json},"requestId":"${escapeText(requestId)}"}`;
}

/** The JSON between a shop's id and the time of acceptance, by kind and by sender. */
const WORDS = {
  message: { shop: wordsOf('message', 'shop'), pool: wordsOf('message', 'pool') },
  status: { shop: wordsOf('status', 'shop'), pool: wordsOf('status', 'pool') },
} as const;

function wordsOf(kind: MessageBody['kind'], via: MessageBody['via']): string {
  return ['","kind":"', kind, '","via":"', via, '","createdAtMs":'].join('');
}

/** Completes the parsed object, because copying it takes several times as long. */
function decodeBody(id: string, text: string): MessageBody {
  const body = JSON.parse(text) as { -readonly [Field in keyof MessageBody]?: unknown };
  body.id = id;
  for (const field of EMPTY_NAMES) body[field] ??= EMPTY_FIELDS[field];
  return body as MessageBody;
}

/**
 * Characters that JSON does not escape: no quotes, backslashes and control characters, and no half of a surrogate pair.
 */
const AS_IT_IS = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/**
 * Returns a text as JSON has it between quotes. Most texts need no escape, and the search for one costs half of writing
 * JSON.
 */
function escapeText(text: string): string {
  return AS_IT_IS.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

/** A message as it is stored: its accepted content, its state, its receipts. */
export type MessageFields = readonly (string | null)[];

/** The accepted content, the state and the receipts. */
export interface StoredMessage {
  readonly body: MessageBody;
  readonly state: MessageState;
  readonly receipts: MessageReceipts;
}

/** Reads a message back from its fields, or undefined if it was removed. */
export function decodeMessage(id: string, fields: MessageFields): StoredMessage | undefined {
  const [bodyText, stateText, receiptsText] = fields;
  if (!bodyText) return undefined;
  const body = decodeBody(id, bodyText);
  const state: MessageState = stateText
    ? (JSON.parse(stateText) as MessageState)
    : { status: 'queued', reason: null, updatedAtMs: body.createdAtMs, sentAtMs: null };
  return { body, state, receipts: decodeReceipts(receiptsText) };
}

/** Returns the message as the API shows it, without its place in the queue. */
export function messageView({ body, state, receipts }: StoredMessage): MessageView {
  const createdAt = new Date(body.createdAtMs).toISOString();
  const isGroup = isGroupId(body.to ?? '');
  return {
    id: body.id,
    shopId: body.shopId,
    channel: 'msgapp',
    to: body.to !== null && isNetworkId(body.to) ? null : body.to,
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
    sentAt: isoOrNull(state.sentAtMs),
    idempotencyKey: body.idempotencyKey,
    requestId: body.requestId,
    traceparent: body.traceparent,
    deliveredAt: isoOrNull(receipts.deliveredAtMs),
    readAt: isoOrNull(receipts.readAtMs),
    ...presentFields<Omit<MessageView, 'position' | 'estimatedSendAt'>>({
      toId: body.reply?.toId,
      replyTo: body.reply?.inboundId,
      batchId: body.batchId,
      deliveredCount: isGroup ? receipts.delivered : undefined,
      readCount: isGroup ? receipts.read : undefined,
    }),
  };
}

/** Returns the path for reading a message's state (docs/contract.md, Accepted response fields). */
export function statusUrl(messageId: string): string {
  return `${API_BASE_PATH}/messages/${messageId}`;
}
