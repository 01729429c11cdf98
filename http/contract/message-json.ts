import { MESSAGE_STATUSES, type MessageStatus } from '../../actors/message-status.ts';
import type { Accepted, MessageView } from '../../actors/shops/shop-operations.ts';
import { quoted } from '../../actors/shops/state/message-record.ts';
import { verdictJson } from '../../policy/verdict.ts';
import { successText } from './envelope.ts';
import { knownBody } from './known-body.ts';

/** The body that shows a message: as it is remembered, in one piece, or put together for one that is shown once. */
export function messageBody(message: MessageView): string {
  return knownBody(message) ?? successText(messageJson(message));
}

/** Returns the text that `JSON.stringify` would return, in half of the time: only callers' texts can need escaping. */
export function messageJson(message: MessageView): string {
  const { id, shopId, channel, to, kind, text, mediaUrl, mediaType } = message;
  const { status, reason, via, policy, createdAt, updatedAt, sentAt, idempotencyKey, requestId } = message;
  const { traceparent } = message;
  const { deliveredAt, readAt, deliveredCount, readCount } = message;
  const { toId, replyTo, batchId } = message;
  const { position, estimatedSendAt = null } = message;
  return (
    `{"id":"${id}","shopId":"${shopId}","channel":"${channel}","to":${quoted(to)},"kind":"${kind}",` +
    `"text":${quoted(text)},"mediaUrl":${quoted(mediaUrl)},"mediaType":${quoted(mediaType)},` +
    `"status":"${status}","reason":${quoted(reason)},"via":"${via}",` +
    `"policy":${policy === null ? 'null' : verdictJson(policy)},` +
    `"createdAt":"${createdAt}","updatedAt":"${updatedAt}","sentAt":${quoted(sentAt)},` +
    `"idempotencyKey":${quoted(idempotencyKey)},"requestId":${quoted(requestId)},` +
    `"traceparent":${quoted(traceparent)},` +
    `"deliveredAt":${quoted(deliveredAt)},"readAt":${quoted(readAt)}` +
    (toId === undefined ? '' : `,"toId":${quoted(toId)},"replyTo":"${replyTo}"`) +
    (batchId === undefined ? '' : `,"batchId":"${batchId}"`) +
    (deliveredCount === undefined ? '' : `,"deliveredCount":${deliveredCount},"readCount":${readCount}`) +
    (position === undefined ? '}' : `,"position":${position},"estimatedSendAt":${quoted(estimatedSendAt)}}`)
  );
}

/** The body that answers a send, byte for byte as `successBody` writes it. */
export function acceptedBody(accepted: Accepted): string {
  const { id, status, statusUrl, policy, policyJson } = accepted;
  const verdict = policyJson ?? verdictJson(policy);
  return `{"success":true,"data":{"id":"${id}${STATUS_WORDS[status]}${statusUrl}","policy":${verdict}}}`;
}

/** The text between a message's id and its status URL. It is built once, not for each message. */
const STATUS_WORDS = Object.fromEntries(
  MESSAGE_STATUSES.map((status) => [status, ['","status":"', status, '","statusUrl":"'].join('')]),
) as Record<MessageStatus, string>;
