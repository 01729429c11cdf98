import type { Address } from '../../../runtime/address.ts';
import type { Behaviour } from '../../../runtime/behaviour.ts';
import type { EgressVault } from '../../sessions/egress-vault.ts';
import { SHOP_LANES, type ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';
import type { ShopReference } from '../shop-operations.ts';
import { listCutDueAtMs } from '../state/accepted-list.ts';
import { loadShop } from '../state/load-shop.ts';
import { channelState, pacingState, type ShopState } from '../state/shop-state.ts';
import { finishTurn, stepChannel, stepPacing } from './builder/step-machines.ts';
import { type ShopTurnOptions, TurnBuilder } from './builder/turn-builder.ts';
import { commandSize } from './command-size.ts';
import { describeShop } from './describe-shop.ts';
import { withPresentTimes } from './present-times.ts';
import type { AcceptanceOptions } from './send/accept-message.ts';
import { type SettleOptions, settleSuspended } from './settle-suspended.ts';
import { type FactsOptions, readShopFacts, type ShopFacts } from './shop-facts.ts';
import { shopTimers } from './shop-timers.ts';
import { shopTurn } from './shop-turns.ts';

export interface ShopBehaviourOptions
  extends ShopTurnOptions,
    AcceptanceOptions,
    FactsOptions,
    SettleOptions {
  /** Carries out effects, and sends their results to the actor. */
  readonly perform: (effect: ShopEffect, address: Address) => void;
  /** The shop's actor leaves this node's memory or is suspended: its session here must end. */
  readonly leave: (address: Address) => void;
  /**
   * The counts of a shop's policy were unreadable, so they count as full from now on. Called at each load until that is
   * stored.
   */
  readonly onLedgerReplaced: (shop: ShopReference) => void;
  readonly egressVault: Pick<EgressVault, 'renewed'>;
}

/** One shop: its channel, the pacing of its queue and its send policy, one command at a time. */
export function shopBehaviour(
  options: ShopBehaviourOptions,
): Behaviour<ShopState, ShopCommand, ShopEffect, ShopFacts> {
  return {
    kind: 'shop',
    async load(address, store, nowMs) {
      const state = await loadShop(address, store, nowMs, options.egressVault);
      if (state?.hasReplacedLedger) options.onLedgerReplaced(state.shop);
      return state && withPresentTimes(state, nowMs, options.times);
    },
    readFacts: (state, command, context) => readShopFacts(state, command, context, options),
    turn(state, command, { nowMs, facts }) {
      return shopTurn(new TurnBuilder(state, nowMs, options), command, facts, options);
    },
    recover(state, command, { nowMs }) {
      if (command.type !== 'session.send_outcome' || state.currentMessage?.messageId !== command.messageId)
        return undefined;
      const builder = new TurnBuilder(state, nowMs, options);
      stepPacing(builder, { type: 'outcome', outcome: { kind: 'unknown' }, ...builder.waitEnds() });
      return finishTurn(builder);
    },
    lane: ({ type }) => SHOP_LANES[type],
    traceOf: (command) =>
      command.type === 'send' || command.type === 'post_status' ? command.draft.traceparent : undefined,
    size: commandSize,
    perform: options.perform,
    timers: shopTimers,
    mustLive: (state) => {
      const channel = channelState(state);
      return (
        state.queue.length > 0 ||
        state.currentMessage !== undefined ||
        state.pooled.length > 0 ||
        state.optOutNotices.length > 0 ||
        state.scheduled.length > 0 ||
        state.batches.length > 0 ||
        listCutDueAtMs(state.acceptedList) !== undefined ||
        !['unconfigured', 'disconnected'].includes(channel)
      );
    },
    activated(state, { nowMs, cause }) {
      const builder = new TurnBuilder(state, nowMs, options);
      builder.write(...state.unstored);
      builder.change({ unstored: [] });
      if (cause === 'crash') afterCrash(builder);
      else afterLostProcess(builder);
      builder.endOverdue();
      return finishTurn(builder);
    },
    suspended: (address, context) => settleSuspended(address, context, options),
    draining(state, { nowMs }) {
      const builder = new TurnBuilder(state, nowMs, options);
      builder.change({ isDispatching: false });
      stepPacing(builder, { type: 'put_back' });
      return finishTurn(builder);
    },
    settled: (state) => pacingState(state) !== 'sending',
    deactivated(_state, address, reason) {
      if (reason !== 'reloaded') options.leave(address);
    },
    describe: describeShop,
  };
}

/**
 * Ends the message that an earlier process left on the wire (docs/contract.md, Message states), and opens the session.
 */
function afterLostProcess(builder: TurnBuilder): void {
  if (pacingState(builder.state) === 'sending') {
    stepPacing(builder, { type: 'outcome', outcome: { kind: 'restarted' }, ...builder.waitEnds() });
  } else {
    stepPacing(builder, { type: 'put_back' });
  }
  stepChannel(builder, { type: 'activated', nowMs: builder.nowMs });
}

/**
 * After a crash of the actor alone its session still runs. The outcome of a message on the wire still arrives. A
 * session that waits for its code to be typed does not repeat the code, so it is opened again.
 */
function afterCrash(builder: TurnBuilder): void {
  const { inbound } = builder.state;
  if (inbound !== 'none') builder.perform({ type: 'set_inbound_mode', inbound });
  const { pairWith } = builder.state.channel.context;
  if (pairWith == null) builder.perform({ type: 'refresh_groups' });
  else stepChannel(builder, { type: 'activated', nowMs: builder.nowMs });
}
