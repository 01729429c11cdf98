import type { Accepted, MessageView } from '../actors/shop/shop-operations.ts';
import { verdictJson } from '../policy/verdict.ts';

const remembered = new WeakMap<MessageView, string>();

/**
 * Keeps the JSON of a message that will be shown again as the same object; to keep it costs as much as to write it.
 * What is put together from pieces stays in pieces, and they would be gathered anew for each reply.
 */
export function rememberJson(message: MessageView): void {
  if (!remembered.has(message)) remembered.set(message, JSON.stringify(message));
}

/** The JSON of a message. */
export function messageJson(message: MessageView): string {
  return remembered.get(message) ?? written(message);
}

/** What `JSON.stringify` makes of it, in half of its time: only what callers wrote can need escaping. */
function written(message: MessageView): string {
  const { id, shopId, channel, to, kind, text, mediaUrl, mediaType } = message;
  const { status, reason, via, policy, createdAt, updatedAt, sentAt } = message;
  return (
    `{"id":"${id}","shopId":"${shopId}","channel":"${channel}","to":${quoted(to)},"kind":"${kind}",` +
    `"text":${quoted(text)},"mediaUrl":${quoted(mediaUrl)},"mediaType":${quoted(mediaType)},` +
    `"status":"${status}","reason":${quoted(reason)},"via":"${via}",` +
    `"policy":${policy === null ? 'null' : verdictJson(policy)},` +
    `"createdAt":"${createdAt}","updatedAt":"${updatedAt}","sentAt":${quoted(sentAt)}}`
  );
}

/** The same of what a send answers. */
export function acceptedJson({ id, status, statusUrl, policy }: Accepted): string {
  return `{"id":"${id}","status":"${status}","statusUrl":"${statusUrl}","policy":${verdictJson(policy)}}`;
}

function quoted(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text);
}
