import * as v from 'valibot';
import { LONGEST_EGRESS } from '../../actors/egress-address.ts';
import { mapOutcome, renamedFailure } from '../../actors/failure.ts';
import { MESSAGE_STATUSES } from '../../actors/message-status.ts';
import { shop } from '../../actors/reply-schemas/shop-schemas.ts';
import type { MessageView } from '../../actors/shops/shop-operations.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { newShop } from '../bodies/new-shop.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS, reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { text } from '../contract/fields.ts';
import { cursorPage, numberedPage } from '../contract/list-pages.ts';
import { cursorParameter, integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { ERASURE_DESCRIPTION, erasureReplies, erasureReply } from './erasures.ts';
import { MESSAGE_FIELDS, messageWithoutContent, pickFields } from './resources.ts';
import { egressField } from './schemas/shop-details.ts';
import { operatorEndpoint } from './services.ts';

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
      data: cursorPage(messageWithoutContent),
      example: {
        items: [pickFields<MessageView, (typeof MESSAGE_FIELDS)[number]>(EXAMPLES.message, MESSAGE_FIELDS)],
        nextCursor: null,
      },
    },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  async handle({ params, query, services }) {
    const page = await services.shops.listMessages(params, query);
    return mapOutcome(page, ({ items, nextCursor }) => ({
      items: items.map((view) => pickFields(view, MESSAGE_FIELDS)),
      nextCursor,
    }));
  },
});

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
  async handle({ params, query, services }) {
    const page = await services.tenants.listShops(params.tenantId, query);
    // The tenant is missing. The operator's token is valid.
    return renamedFailure(page, { from: 'API_KEY_INVALID', to: 'NOT_FOUND' });
  },
});

export const importShop = operatorEndpoint({
  name: 'importShop',
  method: 'POST',
  path: '/tenants/{tenantId}/shops',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Import a shop. Its name need not be unique',
  body: newShop,
  bodyExample: { name: 'Bakery Rue Haute' },
  replies: {
    201: {
      description: 'The new shop.',
      data: shop,
      headers: { Location: 'The shop, as `readActor` shows it.' },
      example: { ...EXAMPLES.shop, phone: null, channelStatus: { msgapp: null } },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, body, services }) {
    const importReply = await services.operators.importShop(params.tenantId, body);
    if (!importReply.ok) return importReply;
    const location = `${OPERATOR_BASE_PATH}/actors/${params.tenantId}/${importReply.value.id}`;
    return reply(201, importReply.value, headerLines({ Location: location }));
  },
});

/** Time for another node to try a proxy and store it, in milliseconds. */
const TRIED_WITHIN_MS = 20_000;

export const changeShop = operatorEndpoint({
  name: 'changeShop',
  method: 'PATCH',
  path: '/tenants/{tenantId}/shops/{shopId}',
  role: 'admin',
  tag: 'Tenants',
  summary: "Change a shop's egress, the proxy of all its connections",
  description:
    'A connection to the chat network is made through it before it is stored (422 `EGRESS_UNREACHABLE`). The session of the shop is then opened again. Null: the connections leave from the address of the node.',
  body: closedObject({
    egress: v.pipe(
      v.nullable(text({ max: LONGEST_EGRESS })),
      v.description(
        '`socks5://user:password@host:port` or `http://user:password@host:port`. The proxy looks names up.',
      ),
    ),
  }),
  bodyExample: { egress: 'socks5://bakery:s3cret@proxy.example:1080' },
  replies: {
    200: {
      description: 'The shop and its egress.',
      data: v.strictObject({ id: v.string(), egress: egressField }),
      example: { id: '66b1f0a2c3d4e5f607182901', egress: 'socks5://bakery:***@proxy.example:1080' },
    },
  },
  errors: ['NOT_FOUND', 'EGRESS_UNREACHABLE'],
  forwardTimeoutMs: TRIED_WITHIN_MS,
  handle: ({ params: { tenantId, shopId }, body: { egress }, services }) =>
    services.operators.setEgress({ tenantId, shopId }, egress),
});

export const deleteShop = operatorEndpoint({
  name: 'deleteShop',
  method: 'DELETE',
  path: '/tenants/{tenantId}/shops/{shopId}',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Erase a shop: session ended, credentials and messages gone',
  body: closedObject({}),
  description: ERASURE_DESCRIPTION,
  replies: erasureReplies,
  errors: ['NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  async handle({ params, services }) {
    const deletion = await services.operators.deleteShop(params);
    return deletion.ok ? erasureReply(params.tenantId, deletion.value) : deletion;
  },
});
