import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { done, type FailureCode, type Outcome, type SendCode } from '../../actors/failure.ts';
import { MEDIA_TYPES } from '../../actors/media-type.ts';
import { MESSAGE_STATUSES } from '../../actors/message-status.ts';
import { acceptedMessage, message } from '../../actors/reply-schemas/message-schemas.ts';
import type { IdempotentReply } from '../../actors/shops/idempotent-reply.ts';
import type { DraftContent } from '../../actors/shops/message-content.ts';
import type { CallerDraft } from '../../actors/shops/shop-operations.ts';
import { MESSAGE_TEXT_LIMIT } from '../../policy/content-rules.ts';
import { MESSAGE_POLICY_CODES } from '../../policy/refusal.ts';
import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { rememberBody } from '../contract/envelope.ts';
import type { CallIds } from '../contract/exchange.ts';
import { recipient, text } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { mediaUri } from '../contract/media-uri.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { madeOnce, REPLAY_HEADERS } from '../contract/replay.ts';
import { idempotencyKey, idempotencyKeyOf } from './idempotency-key.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

/** The refusals of a send whose body is valid, in the order of the checks. */
export const SEND_ERRORS = [
  ...MESSAGE_POLICY_CODES,
  'MSGAPP_NOT_CONNECTED',
  'MSGAPP_SESSION_LOST',
] as const satisfies readonly SendCode[];

/** The content of a message, or of a batch, in a request. */
export const draftContent = {
  text: v.optional(text({ max: MESSAGE_TEXT_LIMIT })),
  mediaUrl: v.optional(mediaUri),
  mediaType: v.optional(v.picklist(MEDIA_TYPES), 'image'),
} satisfies { readonly [Field in keyof DraftContent]: v.GenericSchema };

/** The fields of a request to send a message, without its recipient. */
export const messageContent = { ...draftContent, idempotencyKey };

/** The values of these fields. */
type SentContent = v.InferOutput<v.ObjectSchema<typeof messageContent, undefined>>;

const queuedReply = {
  id: EXAMPLES.messageId,
  status: 'queued',
  statusUrl: `${API_BASE_PATH}/messages/${EXAMPLES.messageId}`,
  policy: EXAMPLES.verdict,
} as const;

/** Replies to a send. */
export const SEND_REPLIES = {
  202: {
    description: 'The message is queued. `policy` has its class, the caps and their usage.',
    data: acceptedMessage,
    example: queuedReply,
    headers: { Location: 'The `statusUrl`.' },
  },
  200: {
    description: 'The original message of the same idempotencyKey; nothing was sent again.',
    data: acceptedMessage,
    example: { ...queuedReply, status: 'sent' },
    headers: REPLAY_HEADERS,
  },
};

export const sendMessage = apiEndpoint({
  name: 'sendMessage',
  method: 'POST',
  path: '/shops/{idOrName}/messages',
  tag: 'Messages',
  summary: 'Queue a message to a number or a group',
  description:
    'The send policy is evaluated first. `retryAfter` of a `429` says when the policy would accept this send. A text without a visible character counts as no text: white space, controls, default-ignorable characters and an empty braille cell (U+2800) show nothing. A message without a text and without `mediaUrl` is refused with `EMPTY_MESSAGE`. If the session is reconnecting and a group is not known yet, the call waits up to 1.5 s. After that it is refused with `503 MSGAPP_NOT_CONNECTED` and `Retry-After`.',
  permission: 'messages.send',
  takesIdempotencyKey: true,
  body: closedObject({
    channel: v.literal('msgapp'),
    to: recipient,
    ...messageContent,
  }),
  bodyExample: {
    channel: 'msgapp',
    to: '+41797654321',
    text: 'Your order is ready.',
    idempotencyKey: 'order-4711',
  },
  replies: SEND_REPLIES,
  errors: [...NAMED_SHOP_ERRORS, ...SEND_ERRORS],
  handle(request) {
    const content = draftOf(request);
    if (!content.ok) return content;
    const draft = { to: request.body.to, ...content.value };
    // An async function would cost every send a promise.
    return withShop(request, (shop) =>
      mapMaybePromise(request.services.shops.send(shop, draft), acceptedReply),
    );
  },
});

/** Returns the reply to a send or a status. */
export function acceptedReply<Accepted extends { readonly statusUrl: string }, Code extends FailureCode>(
  sendOutcome: Outcome<IdempotentReply<Accepted>, Code>,
) {
  return sendOutcome.ok
    ? madeOnce(202, sendOutcome.value, sendOutcome.value.accepted.statusUrl)
    : sendOutcome;
}

/** The fields of a draft that a request's body and its headers give. */
type RequestedDraft = Omit<CallerDraft, 'to'>;

/**
 * Returns the message of a request. Fails if it has two different keys. The shop refuses one without content, because a
 * replay comes first (docs/contract.md, Order on a send). A field of the draft without a line does not compile.
 */
export function draftOf(request: {
  readonly body: SentContent;
  readonly call: CallIds;
  readonly idempotencyKey: string | undefined;
}): Outcome<
  { readonly [Field in keyof Required<RequestedDraft>]: RequestedDraft[Field] },
  'VALIDATION_ERROR'
> {
  const { text, mediaUrl, mediaType } = request.body;
  const key = idempotencyKeyOf(request);
  if (!key.ok) return key;
  const { requestId, traceparent } = request.call;
  return done({ text, mediaUrl, mediaType, idempotencyKey: key.value, requestId, traceparent });
}

export const listMessages = apiEndpoint({
  name: 'listMessages',
  method: 'GET',
  path: '/shops/{idOrName}/messages',
  tag: 'Messages',
  summary: "List the shop's messages, newest first",
  permission: 'messages.read',
  query: { status: v.optional(v.picklist(MESSAGE_STATUSES)), limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page of messages.',
      data: cursorPage(message),
      example: { items: [EXAMPLES.message], nextCursor: null },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) => withShop(request, (shop) => request.services.shops.listMessages(shop, request.query)),
});

export const readMessage = apiEndpoint({
  name: 'readMessage',
  method: 'GET',
  path: '/messages/{id}',
  tag: 'Messages',
  summary: "A message's delivery state",
  permission: 'messages.read',
  replies: {
    200: { description: 'The message.', data: message, example: EXAMPLES.message },
  },
  errors: ['MESSAGE_NOT_FOUND'],
  handle({ caller, params, services }) {
    const outcome = services.shops.message(caller.tenantId, params.id);
    // Callers poll. A record in memory is the same object until it changes, so its body is kept with it.
    if (!(outcome instanceof Promise) && outcome.ok) rememberBody(outcome.value);
    return outcome;
  },
});
