/** Decides commands about a whole shop: its connection, its queue, and the tenant's changes. */
import { done, failed, refusedWith } from '../../failure.ts';
import { codeRefusal } from '../judging/code-refusal.ts';
import type { CommandOf } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import { channelState } from '../state/shop-state.ts';
import { stepChannel, stepPacing } from './builder/step-machines.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';

/**
 * Starts the shop's connection, or resumes it. A code to type is refused if a number is linked already. It is also
 * refused for a while after the network refused one because of too many requests.
 */
export function connectShop(
  builder: TurnBuilder,
  { pairWith }: CommandOf<'connect'>,
): ShopReplies['connect'] {
  const { context } = builder.state.channel;
  if (pairWith !== undefined) {
    if (context.pairedAtMs !== null) return failed('MSGAPP_ALREADY_LINKED');
    const refusal = codeRefusal(context, builder.nowMs);
    if (refusal?.code === 'PAIRING_RATE_LIMITED') return refusedWith(refusal);
  }
  stepChannel(builder, { type: 'connect', nowMs: builder.nowMs, configId: builder.makeId(), pairWith });
  return done(true);
}

/** Ends the shop's connection. Fails if no caller ever asked to connect. */
export function disconnectShop(builder: TurnBuilder): ShopReplies['disconnect'] {
  if (channelState(builder.state) === 'unconfigured') return failed('CHANNEL_NEVER_CONFIGURED');
  stepChannel(builder, { type: 'disconnect', nowMs: builder.nowMs });
  return done(true);
}

/** Notes if the tenant is active. If it is not, a message that is not on the wire waits in the queue again. */
export function setTenantActive(builder: TurnBuilder, { isActive }: CommandOf<'tenant_active'>): void {
  builder.change({ isTenantActive: isActive });
  if (!isActive) stepPacing(builder, { type: 'put_back' });
}

/** Takes over the tenant's inbound mode, and notifies the session. */
export function setInboundMode(builder: TurnBuilder, { inbound }: CommandOf<'tenant_inbound'>): void {
  builder.change({ inbound });
  builder.perform({ type: 'set_inbound_mode', inbound });
}

/** Sets or removes the shop's egress. A session is opened again with it. */
export function setEgress(
  builder: TurnBuilder,
  { egress }: CommandOf<'set_egress'>,
): ShopReplies['set_egress'] {
  builder.change({ egress });
  stepChannel(builder, { type: 'egress_changed', nowMs: builder.nowMs });
  return done(true);
}

/** Pauses the queue. A message that is not on the wire yet waits as well. */
export function pauseQueue(builder: TurnBuilder): ShopReplies['pause'] {
  stepPacing(builder, { type: 'pause' });
  stepPacing(builder, { type: 'put_back' });
  return done(true);
}

/** Ends an operator's pause of the queue. */
export function resumeQueue(builder: TurnBuilder): ShopReplies['resume'] {
  stepPacing(builder, { type: 'resume' });
  return done(true);
}
