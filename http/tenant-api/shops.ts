import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { shop } from '../../actors/reply-schemas/shop-schemas.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { createdShop, newShop } from '../bodies/new-shop.ts';
import { numberedPage } from '../contract/list-pages.ts';
import { integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { madeOnce, REPLAY_HEADERS } from '../contract/replay.ts';
import { apiEndpoint } from './services.ts';

/** The fields that a new shop still lacks; both are completed outside the API (docs/contract.md, Shop). */
const SETUP_REQUIRED = ['location', 'operatingHours'] as const;

export const listShops = apiEndpoint({
  name: 'listShops',
  method: 'GET',
  path: '/shops',
  tag: 'Shops',
  summary: 'List the shops, newest first',
  permission: 'shops.read',
  query: { page: v.optional(integerParameter({ min: 1 }), '1'), limit: limitParameter },
  replies: {
    200: {
      description: 'A page of shops.',
      data: numberedPage(shop),
      example: { items: [EXAMPLES.shop], page: 1, limit: 20, total: 1 },
    },
  },
  handle: ({ caller, query, services }) => services.tenants.listShops(caller.tenantId, query),
});

const madeShop = {
  ...EXAMPLES.shop,
  setupUrl: `https://example.com/shops/${EXAMPLES.shop.id}/edit`,
  setupRequired: SETUP_REQUIRED,
} as const;

export const createShop = apiEndpoint({
  name: 'createShop',
  method: 'POST',
  path: '/shops',
  tag: 'Shops',
  summary: 'Create a shop',
  permission: 'shops.write',
  takesIdempotencyKey: true,
  body: newShop,
  bodyExample: { name: 'Bakery Rue Haute', phone: '+41791234567' },
  replies: {
    201: {
      description: 'The new shop, and what is still to be completed outside the API.',
      data: createdShop,
      headers: { Location: 'The shop.' },
      example: { ...madeShop, channelStatus: { msgapp: null } },
    },
    200: {
      description:
        'The shop that the first call with this Idempotency-Key made, in its present state. No new shop was made.',
      data: createdShop,
      headers: REPLAY_HEADERS,
      example: madeShop,
    },
  },
  errors: ['SHOP_LIMIT_REACHED', 'SHOP_NAME_TAKEN', 'TENANT_OWNER_MISSING'],
  async handle({ caller, body, services, idempotencyKey }) {
    const reply = await services.tenants.createShop(caller.tenantId, body, idempotencyKey);
    if (!reply.ok) return reply;
    const { shop } = reply.value;
    const acceptedReply = { ...shop, setupUrl: services.setupUrl(shop.id), setupRequired: SETUP_REQUIRED };
    return madeOnce(201, { ...reply.value, accepted: acceptedReply }, `${API_BASE_PATH}/shops/${shop.id}`);
  },
});

export const readShop = apiEndpoint({
  name: 'readShop',
  method: 'GET',
  path: '/shops/{idOrName}',
  tag: 'Shops',
  summary: 'Read a shop by id or name',
  permission: 'shops.read',
  replies: { 200: { description: 'The shop.', data: shop, example: EXAMPLES.shop } },
  errors: ['SHOP_NOT_FOUND', 'AMBIGUOUS_SHOP'],
  handle: ({ caller, params, services }) => services.tenants.findShop(caller.tenantId, params.idOrName),
});
