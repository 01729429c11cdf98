import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ShopCommand } from '../protocol/shop-commands.ts';
import { readInboundRecords, type StoredInbound } from '../records/inbound-records.ts';
import type { StoredMessage } from '../records/message-record.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { SendFacts } from '../state/recipient-facts.ts';
import type { ShopState } from '../state/shop-state.ts';
import { type BatchFacts, readBatchFacts } from './batches/batch-facts.ts';
import { type CancellationFacts, isCancellation, readCancellation } from './cancel/cancel-facts.ts';
import { type DispatchFacts, readDispatch } from './dispatch/dispatch-facts.ts';
import { type ReceiptFacts, readReceipts } from './dispatch/receipt-turn.ts';
import { type InboundFacts, readInbound, readSender, type SenderFacts } from './inbound/inbound-facts.ts';
import { type NumberFacts, readNumber } from './number/number-facts.ts';
import { type CarryFacts, readCarry } from './pool/carry-facts.ts';
import { type RequeueFacts, readRequeue } from './pool/requeue-facts.ts';
import { readScheduled, type ScheduledFacts } from './scheduled/scheduled-facts.ts';
import { readOriginal, readSend } from './send/send-facts.ts';

/** The facts for a turn in addition to the shop's state, read before it. */
export interface ShopFacts extends CancellationFacts, ScheduledFacts {
  readonly send?: SendFacts;
  /** For a status: the original of the same idempotency key. */
  readonly original?: StoredMessage | undefined;
  readonly dispatch?: DispatchFacts;
  /** The facts of this shop, as one of the pool, about the message of a request. */
  readonly carry?: CarryFacts;
  /** The facts about a message that no pool shop has taken. */
  readonly requeue?: RequeueFacts;
  /** The number that the network reported before for the looked-up recipient, if another. */
  readonly alias?: string;
  /** The tenant's facts about the number that was just connected. */
  readonly number?: NumberFacts;
  /** Receipts that belong to messages of the shop. */
  readonly receipts?: ReceiptFacts;
  /** The head of the shop's list, before it is cut. */
  readonly oldest?: readonly string[];
  /** The facts about an inbound message of the shop's session. */
  readonly received?: InboundFacts;
  /** The person who opted out at the pool. */
  readonly sender?: SenderFacts;
  /** The inbound message to mark as read. Absent if it was removed. */
  readonly toMarkRead?: StoredInbound;
  readonly batch?: BatchFacts;
  /** True if a session worker can take orders. */
  readonly hasWorker?: boolean;
}

/** Throws if a fact is missing that is always read for the command. */
export function requireFact<Name extends keyof ShopFacts>(
  facts: ShopFacts,
  name: Name,
): asserts facts is ShopFacts & Required<Pick<ShopFacts, Name>> {
  if (facts[name] === undefined) throw new Error(`a command came to its turn without the fact ${name}`);
}

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
  sendFacts: MaybePromise<ShopFacts>,
  scheduledId: string,
  state: ShopState,
  sources: Sources,
): Promise<ShopFacts> {
  const dueSend = { type: 'send', scheduledId } as const;
  const [facts, ofSchedule] = await Promise.all([sendFacts, readScheduled(state, dueSend, sources)]);
  return { ...facts, ...ofSchedule };
}

type OtherCommand = Exclude<ShopCommand, { readonly type: 'send' }>;

type Sources = FactsContext & FactsOptions;

function sourcesOf({ store, nowMs }: FactsContext, { hasWorker, vault, retentionMs }: FactsOptions): Sources {
  return { store, nowMs, hasWorker, vault, retentionMs };
}

const NO_FACTS: ShopFacts = {};

function readFacts(state: ShopState, command: OtherCommand, sources: Sources): MaybePromise<ShopFacts> {
  const { store, vault, nowMs } = sources;
  switch (command.type) {
    case 'post_status': {
      const hasWorker = sources.hasWorker();
      const key = command.draft.idempotencyKey;
      if (key === undefined) return { hasWorker };
      const originalSend = readOriginal(state, { kind: 'status', key }, store);
      return originalSend.then((original) => ({ original, hasWorker }));
    }
    case 'first_look':
    case 'session.prepared':
      if (state.currentMessage?.messageId !== command.messageId) return NO_FACTS;
      return readDispatch(state, command, sources).then((dispatch) => ({ dispatch }));
    case 'session.recipient_known':
      if (state.currentMessage?.messageId !== command.messageId) return NO_FACTS;
      return mapMaybePromise(
        store.lookUp(state.shard, [['HGET', state.keys.aliases, state.currentMessage.to]]),
        ([alias]) => (typeof alias === 'string' ? { alias } : NO_FACTS),
      );
    case 'session.connected':
      return readNumber(state, command.phone, sources).then((number) => ({ number }));
    case 'session.inbound':
      return readInbound(state, command, sources).then((inbound) => ({ received: inbound }));
    case 'session.receipts':
      return readReceipts(state, command, store, nowMs).then((receipts) => ({ receipts }));
    case 'mark_read':
      return readInboundRecords(state.shard, [command.inboundId], { store, vault }).then(([toMarkRead]) =>
        toMarkRead === undefined ? NO_FACTS : { toMarkRead },
      );
    case 'cancel':
    case 'cancel_queue':
    case 'pool.answered':
      return isCancellation(command) ? readCancellation(state, command, store) : NO_FACTS;
    case 'pool.offer':
    case 'pool.take':
    case 'pool.withdraw':
      return readCarry(state, command, store).then((carry) => ({ carry, hasWorker: sources.hasWorker() }));
    case 'requeue':
      return readRequeue(state, command.messageId, store).then((requeue) => ({ requeue }));
    case 'pool.opt_out':
      return readSender(state, { ...command, optsOut: true }, sources).then((sender) => ({ sender }));
    case 'create_batch':
    case 'add_recipients':
    case 'steer_batch':
      return readBatchFacts(state, command, sources).then((batch) => ({ batch }));
    case 'schedule':
    case 'unschedule':
      return readScheduled(state, command, sources);
    case 'cut_accepted':
      return store
        .read([['LRANGE', state.keys.accepted, 0, MOST_CUT - 1]])
        .then(([oldest]) => ({ oldest: oldest as string[] }));
    default:
      return NO_FACTS;
  }
}
