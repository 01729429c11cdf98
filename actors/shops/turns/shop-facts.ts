import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Store } from '../../../runtime/store.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import { readInboundRecords } from '../records/inbound-records.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { ShopState } from '../state/shop-state.ts';
import { type BatchCommand, readBatchFacts } from './batches/batch-facts.ts';
import { readCancel, readCancelledAtPool, readCancelQueue } from './cancel/cancel-facts.ts';
import { readDispatch } from './dispatch/dispatch-facts.ts';
import { readReceipts } from './dispatch/receipt-turn.ts';
import { readInbound, readSender } from './inbound/inbound-facts.ts';
import { readNumber } from './number/number-facts.ts';
import { readCarry } from './pool/carry-facts.ts';
import { readRequeue } from './pool/requeue-facts.ts';
import { readScheduled } from './scheduled/scheduled-facts.ts';
import { type FactsOfSend, readOriginal, readSend } from './send/send-facts.ts';
import type {
  CommandFacts,
  FactsInProgress,
  FactsOfBatch,
  FactsOfPool,
  NoFacts,
  ShopFacts,
} from './typed-turns.ts';

/** The most elements that are cut from the list at a time: more than a day can bring. */
const MOST_CUT = 2 * LEDGER_BOUND;

export interface FactsOptions {
  readonly hasWorker: () => boolean;
  /** Opens the archived data of the numbers of erased shops. */
  readonly vault: NumberVault;
  readonly retentionMs: number;
}

interface FactsContext {
  readonly store: Store;
  readonly nowMs: number;
}

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
  if (command.type !== 'send') return readFacts(state, command, sourcesOf(context, options));
  const { draft } = command;
  const sendFacts = readSend(state, draft, context.store, options.hasWorker());
  return draft.scheduledId === undefined
    ? sendFacts
    : readScheduleToo(sendFacts, draft.scheduledId, state, sourcesOf(context, options));
}

/** The stored schedule of a due send is read at the same time. */
async function readScheduleToo(
  sendFacts: MaybePromise<FactsOfSend>,
  scheduledId: string,
  state: ShopState,
  sources: Sources,
): Promise<CommandFacts['send']> {
  const dueSend = { type: 'send', scheduledId } as const;
  const [facts, ofSchedule] = await Promise.all([sendFacts, readScheduled(state, dueSend, sources)]);
  return { ...facts, ...ofSchedule };
}

type Sources = FactsContext & FactsOptions;

function sourcesOf({ store, nowMs }: FactsContext, { hasWorker, vault, retentionMs }: FactsOptions): Sources {
  return { store, nowMs, hasWorker, vault, retentionMs };
}

/** Reads the facts for a command of another type than `send`. */
function readFacts(state: ShopState, command: ShopCommand, sources: Sources): MaybePromise<ShopFacts> {
  const reads: Readonly<Partial<Record<ShopCommand['type'], AnyRead>>> = READS;
  // The command has the type under which the function was found.
  return reads[command.type]?.(state, command as never, sources) ?? NO_FACTS;
}

/** Reads the facts for a command of the type. */
type Read<Type extends keyof CommandFacts> = (
  state: ShopState,
  command: CommandOf<Type>,
  sources: Sources,
) => MaybePromise<CommandFacts[Type]>;

type AnyRead = (state: ShopState, command: never, sources: Sources) => MaybePromise<ShopFacts>;

const NO_FACTS: NoFacts = {};

const READS: { readonly [Type in Exclude<keyof CommandFacts, 'send'>]: Read<Type> } = {
  post_status(state, { draft: { idempotencyKey: key } }, sources) {
    const hasWorker = sources.hasWorker();
    if (key === undefined) return { hasWorker };
    const found = readOriginal(state, { kind: 'status', key }, sources.store);
    return found.then((original) => ({ original, hasWorker }));
  },
  schedule: readScheduled,
  unschedule: readScheduled,
  create_batch: readBatch,
  add_recipients: readBatch,
  steer_batch: readBatch,
  cancel: (state, { messageId }, { store }) =>
    readCancel(state, messageId, store).then((cancel) => ({ cancel })),
  cancel_queue: (state, { filter }, { store }) =>
    readCancelQueue(state, filter, store).then((cancel) => ({ cancel })),
  async mark_read({ shard }, { inboundId }, sources) {
    const [toMarkRead] = await readInboundRecords(shard, [inboundId], sources);
    return { toMarkRead };
  },
  first_look: readProgress,
  requeue: (state, { messageId }, { store }) =>
    readRequeue(state, messageId, store).then((requeue) => ({ requeue })),
  async cut_accepted({ keys }, _command, { store }) {
    const [oldest] = await store.read([['LRANGE', keys.accepted, 0, MOST_CUT - 1]]);
    return { oldest };
  },
  'pool.offer': readPool,
  'pool.take': readPool,
  'pool.withdraw': readPool,
  'pool.answered'(state, { messageId, answer }, { store }) {
    if (answer.kind !== 'ended' || answer.fate.reason !== 'CANCELLED') return NO_FACTS;
    return readCancelledAtPool(state, messageId, store).then((cancelledAtPool) => ({ cancelledAtPool }));
  },
  'pool.opt_out': (state, command, sources) =>
    readSender(state, { ...command, optsOut: true }, sources).then((sender) => ({ sender })),
  'session.recipient_known'({ shard, keys, currentMessage }, { messageId }, { store }) {
    if (currentMessage?.messageId !== messageId) return NO_FACTS;
    const found = store.lookUp(shard, [['HGET', keys.aliases, currentMessage.to]]);
    return mapMaybePromise(found, ([alias]) => (typeof alias === 'string' ? { alias } : NO_FACTS));
  },
  'session.prepared': readProgress,
  'session.connected': (state, { phone }, sources) =>
    readNumber(state, phone, sources).then((number) => ({ number })),
  'session.inbound': (state, event, sources) =>
    readInbound(state, event, sources).then((received) => ({ received })),
  'session.receipts': (state, event, { store, nowMs }) =>
    readReceipts(state, event, store, nowMs).then((receipts) => ({ receipts })),
};

async function readBatch(state: ShopState, command: BatchCommand, sources: Sources): Promise<FactsOfBatch> {
  return { batch: await readBatchFacts(state, command, sources) };
}

function readProgress(
  state: ShopState,
  command: CommandOf<'first_look' | 'session.prepared'>,
  sources: Sources,
): MaybePromise<FactsInProgress> {
  if (state.currentMessage?.messageId !== command.messageId) return NO_FACTS;
  return readDispatch(state, command, sources).then((dispatch) => ({ dispatch }));
}

async function readPool(
  state: ShopState,
  command: CommandOf<'pool.offer' | 'pool.take' | 'pool.withdraw'>,
  { store, hasWorker }: Sources,
): Promise<FactsOfPool> {
  return { carry: await readCarry(state, command, store), hasWorker: hasWorker() };
}
