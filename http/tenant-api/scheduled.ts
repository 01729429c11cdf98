import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { scheduledSend } from '../../actors/reply-schemas/message-schemas.ts';
import { CONTENT_POLICY_CODES } from '../../policy/refusal.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { recipient, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { madeOnce, REPLAY_HEADERS } from '../contract/replay.ts';
import { draftOf, messageContent } from './messages.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

export const scheduleMessage = apiEndpoint({
  name: 'scheduleMessage',
  method: 'POST',
  path: '/shops/{idOrName}/scheduled',
  tag: 'Messages',
  summary: 'Schedule a message to a number or a group, up to 90 days ahead',
  description:
    'It becomes a message at `sendAt`, if the send policy accepts it then. After a temporary refusal it is attempted again until `notAfter` (default: an hour after `sendAt`; at most 7 days). A shop has at most 1,000 scheduled sends waiting.',
  permission: 'messages.send',
  takesIdempotencyKey: true,
  body: closedObject({
    channel: v.literal('msgapp'),
    sendAt: utcDateTime,
    notAfter: v.optional(utcDateTime),
    to: recipient,
    ...messageContent,
  }),
  bodyExample: {
    channel: 'msgapp',
    sendAt: '2027-01-31T12:00:00Z',
    to: '+41797654321',
    text: 'Your table is ready at eight.',
    idempotencyKey: 'booking-31',
  },
  replies: {
    201: {
      description: 'Scheduled.',
      data: scheduledSend,
      headers: { Location: 'The scheduled send.' },
      example: EXAMPLES.scheduled,
    },
    200: {
      description: 'The original of the same idempotencyKey; nothing was scheduled again.',
      data: scheduledSend,
      headers: REPLAY_HEADERS,
      example: EXAMPLES.scheduled,
    },
  },
  errors: [...NAMED_SHOP_ERRORS, ...CONTENT_POLICY_CODES, 'SCHEDULED_LIMIT_REACHED'],
  handle(request) {
    const { to, sendAt, notAfter } = request.body;
    const content = draftOf(request);
    if (!content.ok) return content;
    return withShop(request, async (shop) => {
      const reply = await request.services.shops.schedule(shop, {
        ...content.value,
        to,
        sendAtMs: Date.parse(sendAt),
        notAfterMs: notAfter === undefined ? undefined : Date.parse(notAfter),
      });
      if (!reply.ok) return reply;
      const { shopId, id } = reply.value.accepted;
      return madeOnce(201, reply.value, `${API_BASE_PATH}/shops/${shopId}/scheduled/${id}`);
    });
  },
});

export const listScheduled = apiEndpoint({
  name: 'listScheduled',
  method: 'GET',
  path: '/shops/{idOrName}/scheduled',
  tag: 'Messages',
  summary: 'List the sends that wait for their time, newest first',
  permission: 'messages.read',
  query: { limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(scheduledSend),
      example: { items: [EXAMPLES.scheduled], nextCursor: null },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) => withShop(request, (shop) => request.services.shops.listScheduled(shop, request.query)),
});

export const readScheduled = apiEndpoint({
  name: 'readScheduled',
  method: 'GET',
  path: '/shops/{idOrName}/scheduled/{id}',
  tag: 'Messages',
  summary: 'Read a scheduled send and its result',
  permission: 'messages.read',
  replies: { 200: { description: 'The send.', data: scheduledSend, example: EXAMPLES.scheduled } },
  errors: [...NAMED_SHOP_ERRORS, 'SCHEDULED_NOT_FOUND'],
  handle: (request) => withShop(request, (shop) => request.services.shops.scheduled(shop, request.params.id)),
});

export const cancelScheduled = apiEndpoint({
  name: 'cancelScheduled',
  method: 'DELETE',
  path: '/shops/{idOrName}/scheduled/{id}',
  tag: 'Messages',
  summary: 'Cancel a scheduled send before its time',
  permission: 'messages.send',
  body: closedObject({}),
  replies: {
    200: {
      description: 'The ended send. A repeated call gets the same answer.',
      data: scheduledSend,
      example: { ...EXAMPLES.scheduled, status: 'cancelled', text: null },
    },
  },
  errors: [...NAMED_SHOP_ERRORS, 'SCHEDULED_NOT_FOUND', 'NOT_CANCELLABLE'],
  handle: (request) =>
    withShop(request, (shop) => request.services.shops.unschedule(shop, request.params.id)),
});
