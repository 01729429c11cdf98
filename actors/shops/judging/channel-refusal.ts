import { type ChannelCode, type Failed, failed } from '../../failure.ts';
import { channelState, isResuming, type ShopState } from '../state/shop-state.ts';

/**
 * Returns the reason why a shop's channel can take no message now, or undefined if it can (docs/contract.md, Channel
 * availability).
 */
export function channelRefusal(state: ShopState, hasWorker: boolean): ChannelCode | undefined {
  if (state.channel.context.flagged) return 'MSGAPP_SESSION_LOST';
  if (channelState(state) !== 'connected' && !isResuming(state)) return 'MSGAPP_NOT_CONNECTED';
  return hasWorker ? undefined : 'BOT_SERVICE_UNREACHABLE';
}

/**
 * Returns the failure of a call that the channel refuses with this code. If the number is banned until a known time, it
 * says when the ban ends.
 */
export function channelFailure<Code extends ChannelCode>(
  { channel }: Pick<ShopState, 'channel'>,
  code: Code,
  nowMs: number,
): Failed<Code> {
  const { value, context } = channel;
  if (code !== 'MSGAPP_NOT_CONNECTED' || value !== 'banned' || context.ban == null) return failed(code);
  return failed(code, { retryAfterSeconds: Math.max(1, Math.ceil((context.ban.untilMs - nowMs) / 1_000)) });
}
