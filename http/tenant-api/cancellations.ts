import { message } from '../../actors/reply-schemas/message-schemas.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import {
  QUEUE_CANCELLATION_EXAMPLE,
  QUEUE_CANCELLED,
  queueCancellation,
  queueFilter,
} from '../bodies/queue-cancellation.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS } from '../contract/endpoint.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

export const cancelMessage = apiEndpoint({
  name: 'cancelMessage',
  method: 'POST',
  path: '/messages/{id}/cancel',
  tag: 'Messages',
  summary: 'Cancel a message or status that waits',
  description:
    "It ends as `failed` with the reason `CANCELLED`, and no longer counts for the number's limits. The call that sent it still counts for its key. A repeated call gets the same answer. A message that is `sending` or has ended otherwise gets `409 NOT_CANCELLABLE`.",
  permission: 'messages.send',
  body: closedObject({}),
  replies: {
    200: {
      description: 'The message, which has ended.',
      data: message,
      example: {
        ...EXAMPLES.message,
        status: 'failed',
        reason: 'CANCELLED',
        sentAt: null,
        deliveredAt: null,
      },
    },
  },
  errors: ['MESSAGE_NOT_FOUND', 'NOT_CANCELLABLE'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  handle: ({ caller, params, services }) => services.shops.cancel(caller.tenantId, params.id),
});

export const cancelQueue = apiEndpoint({
  name: 'cancelQueue',
  method: 'POST',
  path: '/shops/{idOrName}/queue/cancel',
  tag: 'Messages',
  summary: 'Cancel all waiting messages and statuses that match',
  description:
    'At least one of the three fields is required. A message must match all that are given. Messages that are `sending` are not cancelled.',
  permission: 'messages.send',
  body: queueCancellation,
  bodyExample: QUEUE_CANCELLATION_EXAMPLE,
  replies: QUEUE_CANCELLED,
  errors: NAMED_SHOP_ERRORS,
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  handle: (request) =>
    withShop(request, (shop) => request.services.shops.cancelQueue(shop, queueFilter(request.body))),
});
