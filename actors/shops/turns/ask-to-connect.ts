import { done, failed, refusedWith } from '../../failure.ts';
import { codeRefusal } from '../judging/code-refusal.ts';
import type { CommandOf } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';

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
