import { mapOutcome } from '../../actors/failure.ts';
import { batch } from '../../actors/reply-schemas/batch-schemas.ts';
import type { BatchView } from '../../actors/shops/batch-operations.ts';
import { NO_CONTENT } from '../../actors/shops/message-content.ts';
import { BATCH_EXAMPLE } from '../bodies/batch-resources.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS } from '../contract/endpoint.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { operatorEndpoint } from './services.ts';

const REMOVED_FIELDS = { ...NO_CONTENT, idempotencyKey: null };
const SHOWN_EXAMPLE = { ...BATCH_EXAMPLE, ...REMOVED_FIELDS };

const SHOWN_BATCH = {
  200: {
    description: 'The batch without its text, media and idempotency key.',
    data: batch,
    example: SHOWN_EXAMPLE,
  },
};

const ERRORS = ['NOT_FOUND', 'SHOP_NOT_FOUND'] as const;

export const listShopBatches = operatorEndpoint({
  name: 'listShopBatches',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/batches',
  role: 'read',
  tag: 'Actors',
  summary: "A shop's batches, newest first",
  query: { limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page. Texts, media and idempotency keys are left out.',
      data: cursorPage(batch),
      example: { items: [{ ...SHOWN_EXAMPLE, forecast: null }], nextCursor: null },
    },
  },
  errors: ERRORS,
  async handle({ params, query, services }) {
    const reply = await services.shops.listBatches(params, query);
    return mapOutcome(reply, ({ items, nextCursor }) => ({ items: items.map(withoutContent), nextCursor }));
  },
});

export const readShopBatch = operatorEndpoint({
  name: 'readShopBatch',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/batches/{batchId}',
  role: 'read',
  tag: 'Actors',
  summary: 'Read a batch: its progress, and when the rest will be sent',
  replies: SHOWN_BATCH,
  errors: [...ERRORS, 'BATCH_NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  async handle({ params: { tenantId, shopId, batchId }, services }) {
    const reply = await services.shops.batch({ tenantId, shopId }, batchId);
    return mapOutcome(reply, withoutContent);
  },
});

export const steerShopBatch = (['pause', 'resume', 'cancel'] as const).map((order) =>
  operatorEndpoint({
    name: `${order}ShopBatch`,
    method: 'POST',
    path: `/actors/{tenantId}/{shopId}/batches/{batchId}/${order}` as const,
    role: 'operate',
    tag: 'Actors',
    summary: `${order[0]?.toUpperCase()}${order.slice(1)} a batch. Its tenant can do this too`,
    body: closedObject({}),
    replies: SHOWN_BATCH,
    errors: [...ERRORS, 'BATCH_NOT_FOUND', 'BATCH_ENDED'],
    forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
    async handle({ params: { tenantId, shopId, batchId }, services }) {
      const reply = await services.shops.steerBatch({ tenantId, shopId }, batchId, order);
      return mapOutcome(reply, withoutContent);
    },
  }),
);

/** Operators do not read what tenants write. */
function withoutContent<Shown extends Pick<BatchView, keyof typeof REMOVED_FIELDS>>(batch: Shown) {
  return { ...batch, ...REMOVED_FIELDS };
}
