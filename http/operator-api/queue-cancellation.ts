import {
  QUEUE_CANCELLATION_EXAMPLE,
  QUEUE_CANCELLED,
  queueCancellation,
  queueFilter,
} from '../contract/queue-cancellation.ts';
import { operatorEndpoint } from './services.ts';

/** POST /actors/{tenantId}/{shopId}/queue/cancel */
export const cancelShopQueue = operatorEndpoint({
  name: 'cancelShopQueue',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/queue/cancel',
  role: 'operate',
  tag: 'Actors',
  summary: "Cancel messages that wait in a shop's queue, as its tenant can",
  body: queueCancellation,
  bodyExample: QUEUE_CANCELLATION_EXAMPLE,
  replies: QUEUE_CANCELLED,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'BOT_SERVICE_UNREACHABLE'],
  forwardTimeoutMs: 10_000,
  handle: ({ params, body, services }) => services.shops.cancelQueue(params, queueFilter(body)),
});
