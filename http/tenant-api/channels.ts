import { channel } from '../../actors/reply-schemas/shop-schemas.ts';
import {
  CHANNEL_REPLIES,
  CONNECT_FORWARD_TIMEOUT_MS,
  PAIRING_CODE_EXAMPLE,
  PAIRING_ERRORS,
  pairingCodeRequest,
} from '../bodies/channel-replies.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

export const readChannel = apiEndpoint({
  name: 'readChannel',
  method: 'GET',
  path: '/shops/{idOrName}/channels/msgapp',
  tag: 'Channel',
  summary: 'Read the channel: its stored state and its session',
  permission: 'msgapp.read',
  replies: { 200: { description: 'The channel.', data: channel, example: EXAMPLES.connected } },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) => withShop(request, (shop) => request.services.shops.channel(shop)),
});

export const connectChannel = apiEndpoint({
  name: 'connectChannel',
  method: 'POST',
  path: '/shops/{idOrName}/channels/msgapp/connect',
  tag: 'Channel',
  summary: 'Start or resume the connection; answers with a QR code to scan, or connected',
  permission: 'msgapp.connect',
  body: closedObject({}),
  replies: CHANNEL_REPLIES.connecting,
  errors: NAMED_SHOP_ERRORS,
  forwardTimeoutMs: CONNECT_FORWARD_TIMEOUT_MS,
  handle: (request) =>
    withShop(request, (shop) => request.services.shops.connect(shop, request.call.connection)),
});

export const pollChannel = apiEndpoint({
  name: 'pollChannel',
  method: 'GET',
  path: '/shops/{idOrName}/channels/msgapp/connect',
  tag: 'Channel',
  summary: 'Poll the connection every pollAfterMs until it is connected',
  permission: 'msgapp.connect',
  replies: CHANNEL_REPLIES.connecting,
  errors: [...NAMED_SHOP_ERRORS, 'CHANNEL_NOT_STARTED'],
  handle: (request) => withShop(request, (shop) => request.services.shops.pollConnection(shop)),
});

export const requestPairingCode = apiEndpoint({
  name: 'requestPairingCode',
  method: 'POST',
  path: '/shops/{idOrName}/channels/msgapp/pairing-code',
  tag: 'Channel',
  summary: 'Start the connection with a code to type on the phone, instead of a QR code',
  description:
    'Use it if the owner cannot scan a QR code, because this phone would also have to show it. The chat network asks for the code on the phone with the number `phone`. A repeated call for that number returns the same code while it is valid. A call for another number, or POST connect, starts again.',
  permission: 'msgapp.connect',
  body: pairingCodeRequest,
  bodyExample: PAIRING_CODE_EXAMPLE,
  replies: CHANNEL_REPLIES.pairing,
  errors: [...NAMED_SHOP_ERRORS, ...PAIRING_ERRORS],
  forwardTimeoutMs: CONNECT_FORWARD_TIMEOUT_MS,
  handle: ({ body, call, ...request }) =>
    withShop(request, (shop) => request.services.shops.requestPairingCode(shop, body.phone, call.connection)),
});

export const disconnectChannel = apiEndpoint({
  name: 'disconnectChannel',
  method: 'POST',
  path: '/shops/{idOrName}/channels/msgapp/disconnect',
  tag: 'Channel',
  summary: 'Stop the session; the configuration stays and a later connect reuses it',
  permission: 'msgapp.connect',
  body: closedObject({}),
  replies: CHANNEL_REPLIES.disconnected,
  errors: [...NAMED_SHOP_ERRORS, 'CHANNEL_NEVER_CONFIGURED'],
  handle: (request) => withShop(request, (shop) => request.services.shops.disconnect(shop)),
});
