import * as v from 'valibot';
import type { FailureCode } from '../../actors/failure.ts';
import { inboundRecord } from '../../actors/reply-schemas/inbound-schemas.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { acceptedReply, draftOf, messageContent, SEND_ERRORS, SEND_REPLIES } from './messages.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';
import { SHOWN_TYPES } from './shown-file.ts';

const MESSAGE_ERRORS = ['MESSAGE_NOT_FOUND'] as const satisfies readonly FailureCode[];

export const listInbound = apiEndpoint({
  name: 'listInbound',
  method: 'GET',
  path: '/shops/{idOrName}/inbound',
  tag: 'Inbound',
  summary: 'List what people wrote to the shop, newest first',
  description:
    'The list is empty if the account does not receive what people write (`inbound: none`). Messages of groups are never listed.',
  permission: 'inbound.read',
  query: { limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page of inbound messages.',
      data: cursorPage(inboundRecord),
      example: { items: [EXAMPLES.inbound], nextCursor: null },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) => withShop(request, (shop) => request.services.inbound.list(shop, request.query)),
});

export const readInbound = apiEndpoint({
  name: 'readInbound',
  method: 'GET',
  path: '/inbound/{id}',
  tag: 'Inbound',
  summary: 'Read a message that a person wrote',
  permission: 'inbound.read',
  replies: {
    200: { description: 'The inbound message.', data: inboundRecord, example: EXAMPLES.inbound },
  },
  errors: MESSAGE_ERRORS,
  handle: ({ caller, params, services }) => services.inbound.read(caller.tenantId, params.id),
});

export const readInboundMedia = apiEndpoint({
  name: 'readInboundMedia',
  method: 'GET',
  path: '/inbound/{id}/media',
  tag: 'Inbound',
  summary: 'Download the attachment of an inbound message',
  description:
    'The file. The service fetches it from the chat network and decrypts it on the way. It does not store the file. If the file is not the one that was sent, or the network stops, the connection closes before the end of the reply. Use the file only if the reply is complete. Images, audio and video have their declared type. Everything else is `application/octet-stream`. An account can fetch 4 files at a time on each node.',
  permission: 'inbound.read',
  replies: {
    200: {
      description: 'The file.',
      data: v.null(),
      example: null,
      fileTypes: SHOWN_TYPES,
      headers: {
        'Content-Disposition': 'Always `attachment`, with the name that the sender gave.',
        'Content-Security-Policy': 'Prevents a browser from running anything in the file.',
        'X-Accel-Buffering': 'Always `no`: a proxy passes the file on as it comes.',
        'X-Content-Type-Options': 'Always `nosniff`.',
      },
    },
  },
  errors: [
    ...MESSAGE_ERRORS,
    'MEDIA_NOT_FOUND',
    'MEDIA_GONE',
    'MEDIA_TOO_LARGE',
    'MEDIA_UNAVAILABLE',
    'MSGAPP_NOT_CONNECTED',
  ],
  forwardTimeoutMs: 6_000,
  async handle({ caller, params, services }) {
    const attachment = await services.inbound.attachment(caller.tenantId, params.id);
    return attachment.ok ? { ...reply(200, null), file: attachment.value } : attachment;
  },
});

export const markInboundRead = apiEndpoint({
  name: 'markInboundRead',
  method: 'POST',
  path: '/inbound/{id}/read',
  tag: 'Inbound',
  summary: 'Mark a message that a person wrote as read, also on their phone',
  description:
    "The person's phone shows it as read, unless the shop's own phone has read receipts turned off. A repeated call changes nothing.",
  permission: 'inbound.read',
  body: closedObject({}),
  replies: {
    200: {
      description: 'The inbound message, marked as read.',
      data: inboundRecord,
      example: { ...EXAMPLES.inbound, readAt: '2027-01-31T12:05:00.000Z' },
    },
  },
  errors: [...MESSAGE_ERRORS, 'MSGAPP_NOT_CONNECTED', 'MSGAPP_SESSION_LOST'],
  handle: ({ caller, params, services }) => services.inbound.markRead(caller.tenantId, params.id),
});

export const replyToInbound = apiEndpoint({
  name: 'replyToInbound',
  method: 'POST',
  path: '/inbound/{id}/reply',
  tag: 'Inbound',
  summary: 'Queue a reply to the person who wrote, quoting their message',
  description:
    'A reply has the policy, pacing, record and idempotency of a send. It needs no number, so it reaches people whose number the chat network hides. The record then has `to: null`. It always has `toId`. The recipient is `known`. The shop itself sends it, never the pool.',
  permission: 'messages.send',
  takesIdempotencyKey: true,
  body: closedObject(messageContent),
  bodyExample: { text: 'Yes, from eight to noon.', idempotencyKey: 'answer-4711' },
  replies: SEND_REPLIES,
  errors: [...MESSAGE_ERRORS, ...SEND_ERRORS],
  async handle(request) {
    const { caller, params, services } = request;
    const draft = draftOf(request);
    if (!draft.ok) return draft;
    return acceptedReply(await services.inbound.reply(caller.tenantId, params.id, draft.value));
  },
});
