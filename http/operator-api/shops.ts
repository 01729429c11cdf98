import * as v from 'valibot';
import { MESSAGE_STATUSES } from '../../actors/message-status.ts';
import type { MessageView } from '../../actors/shop/record/shop-operations.ts';
import { reply } from '../contract/endpoint.ts';
import { cursorParameter, integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { cursorPage, numberedPage, shop } from '../contract/resources.ts';
import { messageOutcome } from './resources.ts';
import { operatorEndpoint } from './services.ts';

function outcomeOf(view: MessageView): v.InferOutput<typeof messageOutcome> {
  const { id, kind, to, status, reason, via, createdAt, updatedAt, sentAt, requestId } = view;
  const { deliveredAt, readAt, deliveredCount, readCount } = view;
  return {
    ...{ id, kind, to, status, reason, via, createdAt, updatedAt, sentAt, requestId, deliveredAt, readAt },
    ...(deliveredCount === undefined ? {} : { deliveredCount }),
    ...(readCount === undefined ? {} : { readCount }),
  };
}

/** GET /actors/{tenantId}/{shopId}/messages */
export const listShopMessages = operatorEndpoint({
  name: 'listShopMessages',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/messages',
  role: 'read',
  tag: 'Actors',
  summary: "A shop's messages and what became of them, newest first, without their texts",
  query: {
    status: v.optional(v.picklist(MESSAGE_STATUSES)),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(messageOutcome),
      example: {
        items: [
          {
            id: '66b1f0a2c3d4e5f607182908',
            kind: 'message',
            to: '+41797654321',
            status: 'rejected',
            reason: 'RECIPIENT_NOT_ON_MSGAPP',
            via: 'shop',
            createdAt: '2027-01-31T12:00:00.000Z',
            updatedAt: '2027-01-31T12:00:09.000Z',
            sentAt: null,
            requestId: '66b1f0a2c3d4e5f607182907',
            deliveredAt: null,
            readAt: null,
          },
        ],
        nextCursor: null,
      },
    },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  async handle({ params: { tenantId, shopId }, query: { status, limit, cursor }, services }) {
    const listed = await services.shops.listMessages({ tenantId, shopId }, { status, limit, cursor });
    if (!listed.ok) return listed;
    const { items, nextCursor } = listed.value;
    return reply(200, { items: items.map(outcomeOf), nextCursor });
  },
});

/** GET /tenants/{tenantId}/shops */
export const listTenantShops = operatorEndpoint({
  name: 'listTenantShops',
  method: 'GET',
  path: '/tenants/{tenantId}/shops',
  role: 'read',
  tag: 'Tenants',
  summary: "List a tenant's shops, newest first, also those that sleep",
  query: { page: v.optional(integerParameter({ min: 1 }), '1'), limit: limitParameter },
  replies: {
    200: {
      description: 'A page.',
      data: numberedPage(shop),
      example: { items: [], page: 1, limit: 20, total: 0 },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, query: { page, limit }, services }) {
    const found = await services.operators.tenant(params.tenantId);
    if (!found.ok) return found;
    const listed = await services.tenants.listShops(params.tenantId, { page, limit });
    return listed.ok ? reply(200, listed.value) : listed;
  },
});
