import type { ChannelCode } from '../../failure.ts';
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
