import type { PolicyVerdict } from '../../../../policy/verdict.ts';
import { type ChannelCode, done, failed, type Outcome } from '../../../failure.ts';
import { channelFailure } from '../../judging/channel-refusal.ts';
import { wasConnected } from '../../machines/channel-context.ts';
import type { CarrierNeeded } from '../../protocol/shop-replies.ts';
import type { MessageDraft, ShopReference } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';
import { attributedText, excessCharacters } from '../../texts/attributed-text.ts';

/**
 * Decides if a send goes to a shop of the pool, because the shop's own channel is unavailable. The send must have
 * passed the shop's policy, and the tenant must have the fallback. The shop must have had a session once: the pool
 * replaces a lost session, not a missing one. The recipient must be known or declared. An operator's pause prevents it.
 * A text too long for the pool's line is refused, never cut.
 */
export function poolFallback(
  state: ShopState,
  send: {
    readonly draft: MessageDraft;
    readonly verdict: PolicyVerdict;
    readonly unavailable: ChannelCode;
    readonly pool: 'ask' | ShopReference | undefined;
    readonly platformName: string;
    readonly nowMs: number;
  },
): Outcome<ShopReference, ChannelCode | 'MESSAGE_TOO_LONG'> | CarrierNeeded {
  const { draft, verdict, unavailable, pool, platformName, nowMs } = send;
  const refusal = channelFailure(state, unavailable, nowMs);
  const hadSession = wasConnected(state.channel.context);
  const sessionIsAway = unavailable === 'MSGAPP_NOT_CONNECTED' || unavailable === 'MSGAPP_SESSION_LOST';
  const { recipientClass } = verdict;
  const isHeld = state.pacing.context.heldByOperator;
  if (pool === undefined || !hadSession || !sessionIsAway || isHeld) return refusal;
  if (recipientClass !== 'known' && recipientClass !== 'declared') return refusal;
  const text = attributedText(draft.text ?? null, { shopName: state.name, platformName });
  const excess = excessCharacters(text);
  if (excess > 0) {
    const message = `The shop's own session is away, and with the line the pool adds the text is ${excess} characters too long.`;
    return failed('MESSAGE_TOO_LONG', { message });
  }
  if (pool !== 'ask') return done(pool);
  const offer = { to: draft.to, text, mediaUrl: draft.mediaUrl ?? null, recipientClass, messageId: null };
  return { ...refusal, ask: 'pool', offer };
}
