import type { FailureCode } from '../../actors/failure.ts';
import { reply } from '../contract/endpoint.ts';
import { EXAMPLES } from '../contract/examples.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { cursorPage, inboundRecord } from '../contract/resources.ts';
import { NAMED_SHOP_ERRORS, namedShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

const NOT_FOUND = ['MESSAGE_NOT_FOUND'] as const satisfies readonly FailureCode[];

/** GET …/inbound */
export const listInbound = apiEndpoint({
  name: 'listInbound',
  method: 'GET',
  path: '/shops/{idOrName}/inbound',
  tag: 'Inbound',
  summary: 'List what people wrote to the shop, newest first',
  description:
    'Empty where the account is told of nothing that people write (`inbound: none`). Messages of groups are not told.',
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
  async handle(request) {
    const shop = await namedShop(request);
    if (!shop.ok) return shop;
    const listed = await request.services.inbound.list(shop.value, request.query);
    return listed.ok ? reply(200, listed.value) : listed;
  },
});

/** GET /inbound/{id} */
export const readInbound = apiEndpoint({
  name: 'readInbound',
  method: 'GET',
  path: '/inbound/{id}',
  tag: 'Inbound',
  summary: 'What somebody wrote',
  permission: 'inbound.read',
  replies: {
    200: { description: 'The inbound message.', data: inboundRecord, example: EXAMPLES.inbound },
  },
  errors: NOT_FOUND,
  async handle({ caller, params, services }) {
    const found = await services.inbound.read(caller.tenantId, params.id);
    return found.ok ? reply(200, found.value) : found;
  },
});
