import type { MaybePromise } from '../../../runtime/maybe-promise.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopState } from '../state/shop-state.ts';
import { readBatchFacts } from './batches/batch-facts.ts';
import type { FactSources } from './builder/fact-sources.ts';
import { readCancel, readCancelledAtPool, readCancelQueue } from './cancel/cancel-facts.ts';
import { readOldest } from './cut-accepted.ts';
import { readDispatch } from './dispatch/dispatch-facts.ts';
import { readReceipts } from './dispatch/receipt-turn.ts';
import { readInbound, readOptOutAtPool } from './inbound/inbound-facts.ts';
import { readToMark } from './inbound/mark-read.ts';
import { readNumber } from './number/number-facts.ts';
import { readAlias } from './people/recipient-alias.ts';
import { readCarry } from './pool/carry-facts.ts';
import { readRequeue } from './pool/requeue-facts.ts';
import { readScheduled, type ScheduledFacts } from './scheduled/scheduled-facts.ts';
import { readSend, readStatus, type SendTurnFacts } from './send/send-facts.ts';

/** Reads the facts that the turn on a command of the type needs in addition to the shop's state. */
type Read<Type extends ShopCommand['type']> = (
  state: ShopState,
  command: CommandOf<Type>,
  sources: FactSources,
) => MaybePromise<object>;

/** The readers of facts. A command that is not here needs none, and a send has its own below. */
const READS = {
  post_status: readStatus,
  schedule: readScheduled,
  unschedule: readScheduled,
  create_batch: readBatchFacts,
  add_recipients: readBatchFacts,
  steer_batch: readBatchFacts,
  cancel: readCancel,
  cancel_queue: readCancelQueue,
  mark_read: readToMark,
  first_look: readDispatch,
  requeue: readRequeue,
  cut_accepted: readOldest,
  'pool.offer': readCarry,
  'pool.take': readCarry,
  'pool.withdraw': readCarry,
  'pool.answered': readCancelledAtPool,
  'pool.opt_out': readOptOutAtPool,
  'session.recipient_known': readAlias,
  'session.prepared': readDispatch,
  'session.connected': readNumber,
  'session.inbound': readInbound,
  'session.receipts': readReceipts,
} satisfies { readonly [Type in ShopCommand['type']]?: Read<Type> };

/** No facts. The field keeps a turn without its reader from compiling, even if all facts of the turn are optional. */
interface NoFacts {
  readonly areRead: false;
}

const NO_FACTS: NoFacts = { areRead: false };

/** The facts for a command of the type. The stored schedule is read for a due send only. */
export type FactsOf<Type extends ShopCommand['type']> = Type extends 'send'
  ? SendTurnFacts & ScheduledFacts
  : Type extends keyof typeof READS
    ? Awaited<ReturnType<(typeof READS)[Type]>>
    : NoFacts;

export type ShopFacts = FactsOf<ShopCommand['type']>;

type FactsContext = Pick<FactSources, 'store' | 'nowMs'>;

export type FactsOptions = Omit<FactSources, keyof FactsContext>;

type AnyRead = (state: ShopState, command: never, sources: FactSources) => MaybePromise<ShopFacts>;

/**
 * Reads the facts for the turn on a command; none if the state is enough. A send is separate from other commands, so
 * that it makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
 */
export function readShopFacts(
  state: ShopState,
  command: ShopCommand,
  context: FactsContext,
  options: FactsOptions,
): MaybePromise<ShopFacts> {
  if (command.type === 'send') {
    const { draft } = command;
    const sendFacts = readSend(state, draft, context.store, options.hasWorker());
    const { scheduledId } = draft;
    if (scheduledId === undefined) return sendFacts;
    const sources = sourcesOf(context, options);
    return withSchedule(sendFacts, readScheduled(state, { type: 'send', scheduledId }, sources));
  }
  const reads: Readonly<Partial<Record<ShopCommand['type'], AnyRead>>> = READS;
  // The command has the type under which the function was found.
  return reads[command.type]?.(state, command as never, sourcesOf(context, options)) ?? NO_FACTS;
}

/** The stored schedule of a due send is read at the same time. */
async function withSchedule(
  sendFacts: MaybePromise<SendTurnFacts>,
  scheduledFacts: Promise<ScheduledFacts>,
): Promise<FactsOf<'send'>> {
  const [facts, ofSchedule] = await Promise.all([sendFacts, scheduledFacts]);
  return { ...facts, ...ofSchedule };
}

function sourcesOf(
  { store, nowMs }: FactsContext,
  { hasWorker, vault, retentionMs }: FactsOptions,
): FactSources {
  return { store, nowMs, hasWorker, vault, retentionMs };
}
