import type { Outcome } from '../../actors/failure.ts';
import type { ChannelView } from '../../actors/shop/record/shop-operations.ts';
import { reply } from './endpoint.ts';
import { EXAMPLES } from './examples.ts';
import { channel } from './resources.ts';

/**
 * POST connect waits up to 10 s for a QR (docs/contract.md, POST connect); the way to the owner leaves it the
 * time.
 */
export const CONNECT_FORWARD_TIMEOUT_MS = 12_000;

/** What a shop's connection answers, to its tenant and to operators alike. */
export const CHANNEL_REPLIES = {
  connecting: {
    200: {
      description: 'The connection as it stands, with the newest QR.',
      data: channel,
      example: EXAMPLES.qrWaiting,
    },
  },
  disconnected: {
    200: { description: 'The channel, disconnected.', data: channel, example: EXAMPLES.disconnected },
  },
} as const;

/** Answers with the channel, or with why there is none. */
export function channelReply(outcome: Outcome<ChannelView>) {
  return outcome.ok ? reply(200, outcome.value) : outcome;
}
