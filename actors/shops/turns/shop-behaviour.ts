import type { Address } from '../../../runtime/address.ts';
import type { Behaviour, Turn } from '../../../runtime/behaviour.ts';
import { done, failed } from '../../failure.ts';
import type { EgressVault } from '../../sessions/egress-vault.ts';
import type { PoolAnswer } from '../protocol/pool-protocol.ts';
import { type CommandOf, SHOP_LANES, type ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import type { MessageDraft, ShopReference, StatusDraft } from '../shop-operations.ts';
import { listCutDueAtMs } from '../state/accepted-list.ts';
import { loadShop } from '../state/load-shop.ts';
import { channelState, isPreparing, pacingState, type ShopState } from '../state/shop-state.ts';
import { askToConnect } from './ask-to-connect.ts';
import type { BatchCommand, BatchFacts } from './batches/batch-facts.ts';
import { addRecipients, createBatch } from './batches/batch-turns.ts';
import { sendBatched } from './batches/send-batched.ts';
import { steerBatch } from './batches/steer-batch.ts';
import type { ShopTurnOptions } from './builder/collected-turn.ts';
import { cutAccepted } from './builder/cut-accepted.ts';
import { TurnBuilder } from './builder/turn-builder.ts';
import { endOverdue } from './builder/waiting-limits.ts';
import { cancelMessage, cancelQueue } from './cancel/cancel-turns.ts';
import { describeShop } from './describe-shop.ts';
import { onFirstLook } from './dispatch/dispatch-message.ts';
import { markRead } from './inbound/mark-read.ts';
import { onOptOutAtPool } from './inbound/opt-out.ts';
import { yieldNumber } from './number/take-number.ts';
import type { CarryFacts } from './pool/carry-facts.ts';
import { offerPooled, takePooled, withdrawPooled } from './pool/carry-message.ts';
import { onPoolAnswered, onPoolFound, requeue } from './pool/message-at-pool.ts';
import { onOptOutNoted } from './pool/opt-out-notices.ts';
import { withPresentTimes } from './present-times.ts';
import { schedule, unschedule } from './scheduled/scheduled-turns.ts';
import { sendScheduled } from './scheduled/send-scheduled.ts';
import { type AcceptanceOptions, acceptMessage } from './send/accept-message.ts';
import { acceptStatus } from './send/accept-status.ts';
import { onSessionEvent } from './session-turn.ts';
import { settleSuspended } from './settle-suspended.ts';
import { type FactsOptions, readShopFacts, requireFact, type ShopFacts } from './shop-facts.ts';
import { onTimer, shopTimers } from './shop-timers.ts';

export interface ShopBehaviourOptions extends ShopTurnOptions, AcceptanceOptions, FactsOptions {
  /** Carries out effects, and sends their results to the actor. */
  readonly perform: (effect: ShopEffect, address: Address) => void;
  /** The shop's actor leaves this node or is suspended: its session here must end. */
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
    prepare: (state, command, context) => readShopFacts(state, command, context, options),
    turn(state, command, { nowMs, facts }) {
      return turn(new TurnBuilder(state, nowMs, options), command, facts, options);
    },
    recover(state, command, { nowMs }) {
      if (command.type !== 'session.send_outcome' || state.currentMessage?.messageId !== command.messageId)
        return undefined;
      const builder = new TurnBuilder(state, nowMs, options);
      builder.stepPacing({ type: 'outcome', outcome: { kind: 'unknown' }, ...builder.drawEnds() });
      return builder.finish();
    },
    lane: ({ type }) => SHOP_LANES[type],
    traceOf: (command) =>
      command.type === 'send' || command.type === 'post_status' ? command.draft.traceparent : undefined,
    size: (command) => {
      if (command.type === 'send' || command.type === 'post_status') return draftSize(command.draft);
      const hasMany = command.type === 'create_batch' || command.type === 'add_recipients';
      return DRAFT_OVERHEAD_BYTES * (hasMany ? command.asked.recipients.length : 1);
    },
    perform: options.perform,
    timers: shopTimers,
    mustLive: (state) => {
      const name = channelState(state);
      return (
        state.queue.length > 0 ||
        state.currentMessage !== undefined ||
        state.pooled.length > 0 ||
        state.optOutNotices.length > 0 ||
        state.scheduled.length > 0 ||
        state.batches.length > 0 ||
        listCutDueAtMs(state.acceptedList) !== undefined ||
        !['unconfigured', 'disconnected'].includes(name)
      );
    },
    activated(state, { nowMs, cause }) {
      const builder = new TurnBuilder(state, nowMs, options);
      builder.write(...state.unstored);
      builder.change({ unstored: [] });
      // After a crash of the actor alone, its session still runs, and the outcome of the message on the wire still
      // arrives.
      if (cause !== 'crash') settleLostProcess(builder);
      else settleCrash(builder);
      endOverdue(builder);
      return builder.finish();
    },
    suspended: (address, context) => settleSuspended(address, context, options),
    draining(state, { nowMs }) {
      const builder = new TurnBuilder(state, nowMs, options);
      builder.change({ isDispatching: false });
      builder.stepPacing({ type: 'put_back' });
      return builder.finish();
    },
    settled: (state) => pacingState(state) !== 'sending',
    deactivated(_state, address, reason) {
      if (reason !== 'crashed') options.leave(address);
    },
    describe: describeShop,
  };
}

function turn(
  builder: TurnBuilder,
  command: ShopCommand,
  facts: ShopFacts,
  options: ShopBehaviourOptions,
): Turn<ShopState, ShopEffect> {
  switch (command.type) {
    case 'send':
      return send(builder, command, facts, options);
    case 'post_status':
      requireFact(facts, 'hasWorker');
      return builder.finish<'post_status'>(acceptStatus(builder, command, facts, options));
    case 'schedule':
      return builder.finish<'schedule'>(schedule(builder, command.draft, facts));
    case 'unschedule':
      return builder.finish<'unschedule'>(unschedule(builder, facts.schedule));
    case 'create_batch':
    case 'add_recipients':
    case 'steer_batch':
      requireFact(facts, 'batch');
      return turnOfBatch(builder, command, facts.batch);
    case 'cancel':
      requireFact(facts, 'cancel');
      return builder.finish<'cancel'>(cancelMessage(builder, facts.cancel));
    case 'cancel_queue':
      requireFact(facts, 'cancel');
      return builder.finish<'cancel_queue'>(cancelQueue(builder, facts.cancel));
    case 'connect':
      return builder.finish<'connect'>(askToConnect(builder, command));
    case 'disconnect':
      return builder.finish<'disconnect'>(disconnect(builder));
    case 'tenant_active':
      builder.change({ isTenantActive: command.active });
      if (!command.active) builder.stepPacing({ type: 'put_back' });
      return builder.finish();
    case 'mark_read':
      return builder.finish<'mark_read'>(markRead(builder, facts.toMarkRead));
    case 'tenant_inbound':
      builder.change({ inbound: command.inbound });
      builder.perform({ type: 'set_inbound_mode', inbound: command.inbound });
      return builder.finish();
    case 'set_egress':
      builder.change({ egress: command.egress });
      builder.stepChannel({ type: 'egress_changed', nowMs: builder.nowMs });
      return builder.finish<'set_egress'>(done(true));
    case 'pause':
    case 'resume':
      builder.stepPacing({ type: command.type });
      // A message that is not on the wire yet waits as well.
      if (command.type === 'pause') builder.stepPacing({ type: 'put_back' });
      return builder.finish<'pause' | 'resume'>(done(true));
    case 'timer':
      onTimer(builder, command.id);
      return builder.finish();
    case 'pool.offer':
    case 'pool.take':
    case 'pool.withdraw':
      requireFact(facts, 'carry');
      requireFact(facts, 'hasWorker');
      return builder.finish<PoolCommand['type']>(asPoolShop(builder, command, facts.carry, facts.hasWorker));
    case 'first_look':
      // The message may have left progress and come back since this command. The check then counts for the new attempt.
      if (isPreparing(builder.state, command.messageId) && builder.state.currentBody === undefined) {
        if (facts.dispatch !== undefined) onFirstLook(builder, facts.dispatch);
      }
      return builder.finish();
    case 'cut_accepted':
      requireFact(facts, 'oldest');
      cutAccepted(builder, facts.oldest);
      return builder.finish();
    case 'pool.found':
    case 'pool.answered':
    case 'requeue':
      turnOfPooled(builder, command, facts);
      return builder.finish();
    case 'pool.opt_out':
      requireFact(facts, 'sender');
      onOptOutAtPool(builder, command, facts.sender);
      return builder.finish();
    case 'pool.opt_out_noted':
      onOptOutNoted(builder, command);
      return builder.finish();
    case 'number_taken':
      yieldNumber(builder, command);
      return builder.finish();
    default:
      onSessionEvent(builder, command, facts, options);
      return builder.finish();
  }
}

function disconnect(builder: TurnBuilder): ShopReplies['disconnect'] {
  if (channelState(builder.state) === 'unconfigured') return failed('CHANNEL_NEVER_CONFIGURED');
  builder.stepChannel({ type: 'disconnect', nowMs: builder.nowMs });
  return done(true);
}

function send(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: ShopFacts,
  options: AcceptanceOptions,
): Turn<ShopState, ShopEffect> {
  requireFact(facts, 'send');
  requireFact(facts, 'hasWorker');
  const { batch, scheduledId } = command.draft;
  if (batch === undefined && scheduledId === undefined)
    return builder.finish<'send'>(acceptMessage(builder, command, facts, options));
  // The shop makes a due send itself and stores its result. No caller sees its other codes.
  const reply =
    batch === undefined
      ? sendScheduled(builder, command, facts, options)
      : sendBatched(builder, command, facts, options);
  return { ...builder.finish(), reply };
}

function turnOfBatch(
  builder: TurnBuilder,
  command: BatchCommand,
  facts: BatchFacts,
): Turn<ShopState, ShopEffect> {
  if (command.type === 'create_batch')
    return builder.finish<'create_batch'>(createBatch(builder, command.asked, facts));
  const { batchId } = command;
  return command.type === 'add_recipients'
    ? builder.finish<'add_recipients'>(addRecipients(builder, batchId, command.asked, facts))
    : builder.finish<'steer_batch'>(steerBatch(builder, batchId, command.order, facts));
}

/** Takes what happened to a message of the shop that was accepted for the pool. */
function turnOfPooled(
  builder: TurnBuilder,
  command: CommandOf<'pool.found' | 'pool.answered' | 'requeue'>,
  facts: ShopFacts,
): void {
  if (command.type === 'pool.found') {
    onPoolFound(builder, command.messageId, command.pool);
  } else if (command.type === 'pool.answered') {
    onPoolAnswered(builder, command, facts.cancelledAtPool);
  } else {
    requireFact(facts, 'requeue');
    requeue(builder, command.messageId, facts.requeue);
  }
}

type PoolCommand = CommandOf<'pool.offer' | 'pool.take' | 'pool.withdraw'>;

function asPoolShop(
  builder: TurnBuilder,
  command: PoolCommand,
  carry: CarryFacts,
  hasWorker: boolean,
): PoolAnswer {
  if (command.type === 'pool.offer') return offerPooled(builder, command, { ...carry, hasWorker });
  return command.type === 'pool.take'
    ? takePooled(builder, command, carry)
    : withdrawPooled(builder, command, carry);
}

/** Returns the characters of a draft, and an allowance for its other fields. */
function draftSize(draft: MessageDraft | StatusDraft): number {
  const text = 'caption' in draft ? draft.caption : draft.text;
  return DRAFT_OVERHEAD_BYTES + (text?.length ?? 0) + (draft.mediaUrl?.length ?? 0);
}

const DRAFT_OVERHEAD_BYTES = 128;

/** Ends the message that an earlier process left in progress (docs/contract.md, Message states). */
function settleLostProcess(builder: TurnBuilder): void {
  if (pacingState(builder.state) === 'sending') {
    builder.stepPacing({ type: 'outcome', outcome: { kind: 'restarted' }, ...builder.drawEnds() });
  } else {
    builder.stepPacing({ type: 'put_back' });
  }
  builder.stepChannel({ type: 'activated', nowMs: builder.nowMs });
}

/** After a crash of the actor alone, a session still runs, and does not repeat its only code. */
function settleCrash(builder: TurnBuilder): void {
  const { inbound } = builder.state;
  if (inbound !== 'none') builder.perform({ type: 'set_inbound_mode', inbound });
  const { pairWith } = builder.state.channel.context;
  if (pairWith == null) builder.perform({ type: 'refresh_groups' });
  else builder.stepChannel({ type: 'activated', nowMs: builder.nowMs });
}
