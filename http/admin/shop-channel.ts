import { closedObject } from '../closed-object.ts';
import { reply } from '../endpoint.ts';
import { CONNECT_HOP_TIMEOUT_MS } from '../endpoints/channels.ts';
import { EXAMPLES } from '../examples.ts';
import { operatorEndpoint } from '../operator-services.ts';
import { channel } from '../resources.ts';

/** POST /actors/{tenantId}/{shopId}/connect */
export const connectShop = operatorEndpoint({
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/connect',
  tag: 'Actors',
  summary: "Start or resume a shop's connection, as its tenant can",
  body: closedObject({}),
  replies: {
    200: { description: 'The connection as it stands.', data: channel, example: EXAMPLES.qrWaiting },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'BOT_SERVICE_UNREACHABLE'],
  hopTimeoutMs: CONNECT_HOP_TIMEOUT_MS,
  async handle({ params: { tenantId, shopId }, services }) {
    const started = await services.shops.connect({ tenantId, shopId });
    return started.ok ? reply(200, started.value) : started;
  },
});

/** GET /actors/{tenantId}/{shopId}/connect */
export const pollShop = operatorEndpoint({
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/connect',
  tag: 'Actors',
  summary: "Poll a shop's connection, with the newest QR",
  replies: {
    200: { description: 'The connection as it stands.', data: channel, example: EXAMPLES.qrWaiting },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CHANNEL_NOT_STARTED'],
  async handle({ params: { tenantId, shopId }, services }) {
    const polled = await services.shops.pollConnection({ tenantId, shopId });
    return polled.ok ? reply(200, polled.value) : polled;
  },
});

/** POST /actors/{tenantId}/{shopId}/disconnect */
export const disconnectShop = operatorEndpoint({
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/disconnect',
  tag: 'Actors',
  summary: "Stop a shop's session; its configuration stays",
  body: closedObject({}),
  replies: {
    200: { description: 'The channel, disconnected.', data: channel, example: EXAMPLES.disconnected },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CHANNEL_NEVER_CONFIGURED'],
  async handle({ params: { tenantId, shopId }, services }) {
    const stopped = await services.shops.disconnect({ tenantId, shopId });
    return stopped.ok ? reply(200, stopped.value) : stopped;
  },
});
