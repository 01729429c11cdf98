import { apiEndpoint } from '../api-services.ts';
import { closedObject } from '../closed-object.ts';
import { reply } from '../endpoint.ts';
import { EXAMPLES } from '../examples.ts';
import { NAMED_SHOP_ERRORS, namedShop } from '../named-shop.ts';
import { channel } from '../resources.ts';

/** POST connect waits up to 10 s for a QR (DESIGN section 4); the hop leaves it the time. */
export const CONNECT_HOP_TIMEOUT_MS = 12_000;

/** GET …/channels/msgapp */
export const readChannel = apiEndpoint({
  method: 'GET',
  path: '/shops/{idOrName}/channels/msgapp',
  tag: 'Channel',
  summary: 'The stored channel state together with the live session',
  permission: 'msgapp.read',
  replies: { 200: { description: 'The channel.', data: channel, example: EXAMPLES.connected } },
  errors: NAMED_SHOP_ERRORS,
  async handle(request) {
    const shop = await namedShop(request);
    if (!shop.ok) return shop;
    const found = await request.services.shops.channel(shop.value);
    return found.ok ? reply(200, found.value) : found;
  },
});

/** POST …/connect */
export const startConnection = apiEndpoint({
  method: 'POST',
  path: '/shops/{idOrName}/channels/msgapp/connect',
  tag: 'Channel',
  summary: 'Start or resume the connection; answers with a QR code to scan, or connected',
  permission: 'msgapp.connect',
  body: closedObject({}),
  replies: {
    200: { description: 'The connection as it stands.', data: channel, example: EXAMPLES.qrWaiting },
  },
  errors: [...NAMED_SHOP_ERRORS, 'BOT_SERVICE_UNREACHABLE'],
  hopTimeoutMs: CONNECT_HOP_TIMEOUT_MS,
  async handle(request) {
    const shop = await namedShop(request);
    if (!shop.ok) return shop;
    const started = await request.services.shops.connect(shop.value);
    return started.ok ? reply(200, started.value) : started;
  },
});

/** GET …/connect */
export const pollConnection = apiEndpoint({
  method: 'GET',
  path: '/shops/{idOrName}/channels/msgapp/connect',
  tag: 'Channel',
  summary: 'Poll the connection every pollAfterMs until it is connected',
  permission: 'msgapp.connect',
  replies: {
    200: {
      description: 'The connection as it stands, with the newest QR.',
      data: channel,
      example: EXAMPLES.qrWaiting,
    },
  },
  errors: [...NAMED_SHOP_ERRORS, 'CHANNEL_NOT_STARTED', 'BOT_SERVICE_UNREACHABLE'],
  async handle(request) {
    const shop = await namedShop(request);
    if (!shop.ok) return shop;
    const polled = await request.services.shops.pollConnection(shop.value);
    return polled.ok ? reply(200, polled.value) : polled;
  },
});

/** POST …/disconnect */
export const stopConnection = apiEndpoint({
  method: 'POST',
  path: '/shops/{idOrName}/channels/msgapp/disconnect',
  tag: 'Channel',
  summary: 'Stop the session; the configuration stays and a later connect reuses it',
  permission: 'msgapp.connect',
  body: closedObject({}),
  replies: {
    200: { description: 'The channel, disconnected.', data: channel, example: EXAMPLES.disconnected },
  },
  errors: [...NAMED_SHOP_ERRORS, 'CHANNEL_NEVER_CONFIGURED', 'BOT_SERVICE_UNREACHABLE'],
  async handle(request) {
    const shop = await namedShop(request);
    if (!shop.ok) return shop;
    const stopped = await request.services.shops.disconnect(shop.value);
    return stopped.ok ? reply(200, stopped.value) : stopped;
  },
});
