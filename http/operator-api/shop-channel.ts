import {
  CHANNEL_REPLIES,
  CONNECT_FORWARD_TIMEOUT_MS,
  PAIRING_CODE_EXAMPLE,
  PAIRING_ERRORS,
  pairingCodeRequest,
} from '../bodies/channel-replies.ts';
import { closedObject } from '../contract/closed-object.ts';
import { operatorEndpoint } from './services.ts';

export const connectShop = operatorEndpoint({
  name: 'connectShop',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/connect',
  role: 'operate',
  tag: 'Actors',
  summary: "Start or resume a shop's connection on behalf of its tenant",
  body: closedObject({}),
  replies: CHANNEL_REPLIES.connecting,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  forwardTimeoutMs: CONNECT_FORWARD_TIMEOUT_MS,
  handle: ({ params: { tenantId, shopId }, services }) => services.shops.connect({ tenantId, shopId }),
});

export const pollShop = operatorEndpoint({
  name: 'pollShop',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/connect',
  role: 'operate',
  tag: 'Actors',
  summary: "Poll a shop's connection, with the newest QR",
  replies: CHANNEL_REPLIES.connecting,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CHANNEL_NOT_STARTED'],
  handle: ({ params: { tenantId, shopId }, services }) => services.shops.pollConnection({ tenantId, shopId }),
});

export const requestShopPairingCode = operatorEndpoint({
  name: 'requestShopPairingCode',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/pairing-code',
  role: 'operate',
  tag: 'Actors',
  summary: "Start a shop's connection, on behalf of its tenant, by a code that is typed on its phone",
  body: pairingCodeRequest,
  bodyExample: PAIRING_CODE_EXAMPLE,
  replies: CHANNEL_REPLIES.pairing,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', ...PAIRING_ERRORS],
  forwardTimeoutMs: CONNECT_FORWARD_TIMEOUT_MS,
  handle: ({ params: { tenantId, shopId }, body: { phone }, services }) =>
    services.shops.requestPairingCode({ tenantId, shopId }, phone),
});

export const disconnectShop = operatorEndpoint({
  name: 'disconnectShop',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/disconnect',
  role: 'operate',
  tag: 'Actors',
  summary: "Stop a shop's session. Its configuration stays",
  body: closedObject({}),
  replies: CHANNEL_REPLIES.disconnected,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CHANNEL_NEVER_CONFIGURED'],
  handle: ({ params: { tenantId, shopId }, services }) => services.shops.disconnect({ tenantId, shopId }),
});
