import { channel } from '../../actors/reply-schemas/shop-schemas.ts';
import { closedObject } from '../contract/closed-object.ts';
import { phoneNumber } from '../contract/fields.ts';
import { EXAMPLES } from './examples.ts';

/**
 * POST connect waits up to 10 s for a QR (docs/contract.md, POST connect); the way to the owner leaves it the
 * time.
 */
export const CONNECT_FORWARD_TIMEOUT_MS = 12_000;

/** The replies of a shop's connection, the same for its tenant and for operators. */
export const CHANNEL_REPLIES = {
  connecting: {
    200: {
      description: 'The current connection, with the newest QR.',
      data: channel,
      example: EXAMPLES.qrWaiting,
    },
  },
  pairing: {
    200: {
      description: 'The current connection, with the code to type.',
      data: channel,
      example: EXAMPLES.codeWaiting,
    },
  },
  disconnected: {
    200: { description: 'The channel, disconnected.', data: channel, example: EXAMPLES.disconnected },
  },
} as const;

export const pairingCodeRequest = closedObject({ phone: phoneNumber });

export const PAIRING_CODE_EXAMPLE = { phone: '+41791234567' };

/** Errors that only a request for a pairing code can get. */
export const PAIRING_ERRORS = [
  'MSGAPP_ALREADY_LINKED',
  'PAIRING_CODE_REFUSED',
  'PAIRING_RATE_LIMITED',
] as const;
