import type { Turn } from '../../../runtime/behaviour.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';
import type { DueReply } from '../protocol/shop-replies.ts';
import type { ShopState } from '../state/shop-state.ts';
import { addRecipients, createBatch } from './batches/batch-turns.ts';
import { sendBatched } from './batches/send-batched.ts';
import { steerBatch } from './batches/steer-batch.ts';
import { finishTurn } from './builder/step-machines.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import { cancelMessage, cancelQueue } from './cancel/cancel-turns.ts';
import { cutAccepted } from './cut-accepted.ts';
import { onFirstLook } from './dispatch/dispatch-message.ts';
import { onOptOutAtPool } from './inbound/apply-opt-out.ts';
import { markRead } from './inbound/mark-read.ts';
import { yieldNumber } from './number/take-number.ts';
import { offerPooled, takePooled, withdrawPooled } from './pool/carry-message.ts';
import { onPoolAnswered, onPoolFound, requeue } from './pool/message-at-pool.ts';
import { onOptOutNoted } from './pool/opt-out-notices.ts';
import { schedule, sendScheduled, unschedule } from './scheduled/scheduled-turns.ts';
import { acceptMessage } from './send/accept-message.ts';
import { acceptStatus } from './send/accept-status.ts';
import { SESSION_TURNS } from './session-turn.ts';
import type { FactsOf, ShopFacts } from './shop-facts.ts';
import { onTimer } from './shop-timers.ts';
import type { DecisionOptions, ShopTurns } from './typed-turns.ts';
import {
  connectShop,
  disconnectShop,
  pauseQueue,
  resumeQueue,
  setEgress,
  setInboundMode,
  setTenantActive,
} from './whole-shop.ts';

const TURNS: ShopTurns = {
  send,
  post_status: acceptStatus,
  schedule,
  unschedule,
  create_batch: createBatch,
  add_recipients: addRecipients,
  steer_batch: steerBatch,
  cancel: cancelMessage,
  cancel_queue: cancelQueue,
  connect: connectShop,
  disconnect: disconnectShop,
  tenant_active: setTenantActive,
  tenant_inbound: setInboundMode,
  set_egress: setEgress,
  mark_read: markRead,
  pause: pauseQueue,
  resume: resumeQueue,
  timer: onTimer,
  first_look: onFirstLook,
  requeue,
  cut_accepted: cutAccepted,
  'pool.offer': offerPooled,
  'pool.take': takePooled,
  'pool.withdraw': withdrawPooled,
  'pool.found': onPoolFound,
  'pool.answered': onPoolAnswered,
  'pool.opt_out': onOptOutAtPool,
  'pool.opt_out_noted': onOptOutNoted,
  number_taken: yieldNumber,
  ...SESSION_TURNS,
};

type AnyDecider = (builder: TurnBuilder, command: never, facts: never, options: DecisionOptions) => unknown;

/** Decides a command by the facts that were read for it. */
export function shopTurn(
  builder: TurnBuilder,
  command: ShopCommand,
  facts: ShopFacts,
  options: DecisionOptions,
): Turn<ShopState, ShopEffect> {
  const decide: AnyDecider = TURNS[command.type];
  // The command has the type under which its turn was found, and its facts were read for that type.
  return finishTurn(builder, decide(builder, command as never, facts as never, options));
}

function send(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: FactsOf<'send'>,
  options: DecisionOptions,
): DueReply {
  const { batch, scheduledId } = command.draft;
  if (batch !== undefined) return sendBatched(builder, command, facts, options);
  if (scheduledId !== undefined) return sendScheduled(builder, command, facts, options);
  return acceptMessage(builder, command, facts, options);
}
