import type { Turn } from '../../../runtime/behaviour.ts';
import { done, failed } from '../../failure.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';
import type { SendReply } from '../protocol/shop-replies.ts';
import { channelState, isPreparing, type ShopState } from '../state/shop-state.ts';
import { askToConnect } from './ask-to-connect.ts';
import { addRecipients, createBatch } from './batches/batch-turns.ts';
import { sendBatched } from './batches/send-batched.ts';
import { steerBatch } from './batches/steer-batch.ts';
import { cutAccepted } from './builder/cut-accepted.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import { cancelMessage, cancelQueue } from './cancel/cancel-turns.ts';
import { onFirstLook } from './dispatch/dispatch-message.ts';
import { markRead } from './inbound/mark-read.ts';
import { onOptOutAtPool } from './inbound/opt-out.ts';
import { yieldNumber } from './number/take-number.ts';
import { offerPooled, takePooled, withdrawPooled } from './pool/carry-message.ts';
import { onPoolAnswered, onPoolFound, requeue } from './pool/message-at-pool.ts';
import { onOptOutNoted } from './pool/opt-out-notices.ts';
import { schedule, unschedule } from './scheduled/scheduled-turns.ts';
import { sendScheduled } from './scheduled/send-scheduled.ts';
import { acceptMessage } from './send/accept-message.ts';
import { acceptStatus } from './send/accept-status.ts';
import { SESSION_TURNS } from './session-turn.ts';
import { onTimer } from './shop-timers.ts';
import type { DecisionOptions, FactsOf, ShopFacts, ShopTurns } from './typed-turns.ts';

const TURNS: ShopTurns = {
  send,
  post_status: acceptStatus,
  schedule: (builder, { draft }, facts) => schedule(builder, draft, facts),
  unschedule: (builder, _command, facts) => unschedule(builder, facts.schedule),
  create_batch: (builder, { asked }, { batch }) => createBatch(builder, asked, batch),
  add_recipients: (builder, { batchId, asked }, { batch }) => addRecipients(builder, batchId, asked, batch),
  steer_batch: (builder, { batchId, order }, { batch }) => steerBatch(builder, batchId, order, batch),
  cancel: (builder, _command, { cancel }) => cancelMessage(builder, cancel),
  cancel_queue: (builder, _command, { cancel }) => cancelQueue(builder, cancel),
  connect: askToConnect,
  disconnect(builder) {
    if (channelState(builder.state) === 'unconfigured') return failed('CHANNEL_NEVER_CONFIGURED');
    builder.stepChannel({ type: 'disconnect', nowMs: builder.nowMs });
    return done(true);
  },
  tenant_active(builder, { active }) {
    builder.change({ isTenantActive: active });
    if (!active) builder.stepPacing({ type: 'put_back' });
  },
  tenant_inbound(builder, { inbound }) {
    builder.change({ inbound });
    builder.perform({ type: 'set_inbound_mode', inbound });
  },
  set_egress(builder, { egress }) {
    builder.change({ egress });
    builder.stepChannel({ type: 'egress_changed', nowMs: builder.nowMs });
    return done(true);
  },
  mark_read: (builder, _command, { toMarkRead }) => markRead(builder, toMarkRead),
  pause(builder) {
    builder.stepPacing({ type: 'pause' });
    // A message that is not on the wire yet waits as well.
    builder.stepPacing({ type: 'put_back' });
    return done(true);
  },
  resume(builder) {
    builder.stepPacing({ type: 'resume' });
    return done(true);
  },
  timer: (builder, { id }) => onTimer(builder, id),
  first_look(builder, { messageId }, { dispatch }) {
    // The message may have left progress and come back since this command. The check then counts for the new attempt.
    const { state } = builder;
    const isNext = isPreparing(state, messageId) && state.currentBody === undefined;
    if (isNext && dispatch !== undefined) onFirstLook(builder, dispatch);
  },
  requeue: (builder, { messageId }, facts) => requeue(builder, messageId, facts.requeue),
  cut_accepted: (builder, _command, { oldest }) => cutAccepted(builder, oldest),
  'pool.offer': (builder, command, { carry, hasWorker }) =>
    offerPooled(builder, command, { ...carry, hasWorker }),
  'pool.take': (builder, command, { carry }) => takePooled(builder, command, carry),
  'pool.withdraw': (builder, command, { carry }) => withdrawPooled(builder, command, carry),
  'pool.found': (builder, { messageId, pool }) => onPoolFound(builder, messageId, pool),
  'pool.answered': (builder, command, facts) => onPoolAnswered(builder, command, facts.cancelledAtPool),
  'pool.opt_out': (builder, command, { sender }) => onOptOutAtPool(builder, command, sender),
  'pool.opt_out_noted': onOptOutNoted,
  number_taken: yieldNumber,
  ...SESSION_TURNS,
};

type AnyTurn = (builder: TurnBuilder, command: never, facts: never, options: DecisionOptions) => unknown;

/** Decides a command by the facts that were read for it. */
export function shopTurn(
  builder: TurnBuilder,
  command: ShopCommand,
  facts: ShopFacts,
  options: DecisionOptions,
): Turn<ShopState, ShopEffect> {
  const decide: AnyTurn | undefined = TURNS[command.type];
  // A newer program may have stored a command as a dead letter.
  if (decide === undefined) return builder.finish();
  // The command has the type under which its turn was found, and its facts were read for that type.
  return builder.finish(decide(builder, command as never, facts as never, options));
}

function send(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: FactsOf<'send'>,
  options: DecisionOptions,
): SendReply {
  const { batch, scheduledId } = command.draft;
  if (batch === undefined && scheduledId === undefined)
    return acceptMessage(builder, command, facts, options);
  const reply =
    batch === undefined
      ? sendScheduled(builder, command, facts, options)
      : sendBatched(builder, command, facts, options);
  // The shop makes a due send itself and stores its result. No caller sees its other codes.
  return reply as SendReply;
}
