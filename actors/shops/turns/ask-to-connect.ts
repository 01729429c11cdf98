import { MINUTE_MS } from '../../../runtime/durations.ts';
import { done, type Failure, failed, refusedWith } from '../../failure.ts';
import type { ChannelContext } from '../machines/channel-context.ts';
import type { CommandOf } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';

/**
 * How long no code is requested after the network refused one because of too many requests, in milliseconds. It equals
 * the pause after a rate signal (docs/contract.md, Enforced in the sending component).
 */
const CODE_PAUSE_MS = 15 * MINUTE_MS;

/**
 * Starts the shop's connection, or resumes it. A code to type is refused if a number is linked already. It is also
 * refused for a while after the network refused one because of too many requests.
 */
export function askToConnect(
  builder: TurnBuilder,
  { pairWith }: CommandOf<'connect'>,
): ShopReplies['connect'] {
  const { context } = builder.state.channel;
  if (pairWith !== undefined) {
    if (context.pairedAtMs !== null) return failed('MSGAPP_ALREADY_LINKED');
    const refusal = codeRefusal(context, builder.nowMs);
    if (refusal?.code === 'PAIRING_RATE_LIMITED') return refusedWith(refusal);
  }
  builder.stepChannel({ type: 'connect', nowMs: builder.nowMs, configId: builder.makeId(), pairWith });
  return done(true);
}

/**
 * Returns the reason why there is no code to type: too many requests, or the network refused the last session.
 * Undefined if neither happened lately.
 */
export function codeRefusal(
  { lastEnd, codesRefusedAtMs }: ChannelContext,
  nowMs: number,
): Failure<'PAIRING_RATE_LIMITED' | 'PAIRING_CODE_REFUSED'> | undefined {
  const refusedEnd = lastEnd?.end === 'pairing_refused' ? lastEnd : undefined;
  const limitedMs = codesRefusedAtMs == null ? 0 : codesRefusedAtMs + CODE_PAUSE_MS - nowMs;
  if (limitedMs > 0) return { code: 'PAIRING_RATE_LIMITED', retryAfterSeconds: Math.ceil(limitedMs / 1_000) };
  if (refusedEnd === undefined || refusedEnd.atMs + CODE_PAUSE_MS <= nowMs) return undefined;
  const fields = [{ field: 'phone', message: 'must be a number that the chat network gives a code for' }];
  return { code: 'PAIRING_CODE_REFUSED', fields };
}
