import { numberForms } from '../../../policy/number-forms.ts';
import { isOptOut } from '../../../policy/opt-out.ts';
import { isNetworkId, isPhoneNumber } from '../../../policy/recipient.ts';
import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Store } from '../../../runtime/store.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import { carriedForRead, originsOf } from '../records/carried-for.ts';
import { readCarried } from '../records/carried-message.ts';
import { readInboundRecords, type StoredInbound } from '../records/inbound-records.ts';
import { readMessage } from '../records/message-days.ts';
import type { StoredMessage } from '../records/message-record.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { idempotencyKey } from '../records/shop-keys.ts';
import { decodeWriter, laterWriter } from '../records/writer.ts';
import type { MessageDraft, ShopReference } from '../shop-operations.ts';
import { newestRead } from '../state/newest-accepted.ts';
import type { ShopState } from '../state/shop-state.ts';
import type { BatchFacts } from './batches/batch-facts.ts';
import { type CancellationFacts, isCancellation, readCancellation } from './cancel/cancel-facts.ts';
import { type EventFacts, readEventFacts } from './inbound/inbound-facts.ts';
import { type NumberFacts, readNumber } from './number/number-facts.ts';
import {
  type InboundFacts,
  type RecipientFacts,
  readRecipient,
  readWriter,
  type SendFacts,
  unknownPerson,
} from './people/recipient-facts.ts';
import type { CarryFacts } from './pool/carry-message.ts';
import type { ScheduledFacts } from './scheduled/scheduled-facts.ts';
import { type DispatchFacts, readDispatch } from './wire/dispatch-facts.ts';
import { type ReceiptFacts, readReceipts } from './wire/receipt-turn.ts';

/** The facts for a turn in addition to the shop's state, read before it. */
export interface ShopFacts extends InboundFacts, CancellationFacts, ScheduledFacts {
  readonly send?: SendFacts;
  /** For a status: the original of the same idempotency key. */
  readonly original?: StoredMessage;
  readonly dispatch?: DispatchFacts;
  /** The facts of this shop, as one of the pool, about the message of a request. */
  readonly carry?: CarryFacts;
  /** The shops that this one, as one of the pool, wrote for to the person who opts out now. */
  readonly carriedFor?: readonly ShopReference[];
  /** The number that the network reported before for the looked-up recipient, if another. */
  readonly alias?: string;
  /** The tenant's facts about the number that was just connected. */
  readonly number?: NumberFacts;
  /** Receipts that belong to messages of the shop. */
  readonly receipts?: ReceiptFacts;
  /** The head of the shop's list, before it is cut. */
  readonly oldest?: readonly string[];
  /** The inbound message to mark as read. Absent if it was removed. */
  readonly inbound?: StoredInbound;
  /** Set for an inbound message that must be published to the tenant. */
  readonly event?: EventFacts;
  readonly batch?: BatchFacts;
  /** True if a session worker can take orders. */
  readonly available: boolean;
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

/** A command other than a send whose turn is next, and the location of its facts. */
interface FactsQuestion {
  readonly state: ShopState;
  readonly command: Exclude<ShopCommand, { readonly type: 'send' }>;
  readonly store: Store;
  readonly vault: NumberVault;
  readonly nowMs: number;
  readonly available: boolean;
}

/** Reads the facts for the turn on a command; none if the state is enough. For a send, see `readSend`. */
export function readShopFacts(question: FactsQuestion): MaybePromise<ShopFacts> {
  const { available } = question;
  return mapMaybePromise(readFacts(question), (facts) => ({ ...facts, available }));
}

/** The facts that are read for a turn. */
type ReadFacts = Omit<ShopFacts, 'available'>;

const NO_FACTS: ReadFacts = {};

function readFacts(question: FactsQuestion): MaybePromise<ReadFacts> {
  const { state, command, store, vault, nowMs } = question;
  switch (command.type) {
    case 'post_status': {
      const key = command.draft.idempotencyKey;
      if (key === undefined) return NO_FACTS;
      const found = readOriginal(state, { kind: 'status', key }, store);
      return found.then((original) => (original === undefined ? NO_FACTS : { original }));
    }
    case 'first_look':
    case 'session.prepared':
      if (state.currentMessage?.messageId !== command.messageId) return NO_FACTS;
      return readDispatch(state, command, { store, vault, nowMs }).then((dispatch) => ({ dispatch }));
    case 'session.recipient_known':
      if (state.currentMessage?.messageId !== command.messageId) return NO_FACTS;
      return mapMaybePromise(
        store.lookUp(state.shard, [['HGET', state.keys.aliases, state.currentMessage.to]]),
        ([alias]) => (typeof alias === 'string' ? { alias } : NO_FACTS),
      );
    case 'session.connected':
      return readNumber(state, command.phone, { store, vault, nowMs }).then((number) => ({ number }));
    case 'session.inbound':
      return readWritten(question, command);
    case 'session.receipts':
      return readReceipts(state, command, store, nowMs).then((receipts) => ({ receipts }));
    case 'mark_read':
      return readInboundRecords(state.shard, [command.inboundId], { store, vault }).then(([inbound]) =>
        inbound === undefined ? NO_FACTS : { inbound },
      );
    case 'cancel':
    case 'cancel_queue':
    case 'pool.answered':
      return isCancellation(command) ? readCancellation(state, command, store) : NO_FACTS;
    case 'pool.offer':
    case 'pool.take':
    case 'pool.withdraw':
      return readCarry(state, command, store).then((carry) => ({ carry }));
    case 'pool.opt_out':
      return readWriterOf(state, command.from, store);
    case 'cut_accepted':
      return store
        .read([['LRANGE', state.keys.accepted, 0, MOST_CUT - 1]])
        .then(([oldest]) => ({ oldest: oldest as string[] }));
    default:
      return NO_FACTS;
  }
}

/** Reads the person who wrote, and the facts to publish. */
async function readWritten(
  { state, store, vault, nowMs }: FactsQuestion,
  event: CommandOf<'session.inbound'>,
): Promise<ReadFacts> {
  const known = isOptOut(event.text)
    ? await readOptOut(state, event.from, store, nowMs)
    : await readWriterOf(state, event.from, store);
  const facts = await readEventFacts(state, event, known.writtenBy, { store, vault, nowMs });
  return facts === undefined ? known : { ...known, event: facts };
}

type PoolCommand = CommandOf<'pool.offer' | 'pool.take' | 'pool.withdraw'>;

type WrittenBy = InboundFacts & { readonly writtenBy: string };

/**
 * Reads the person who wrote. A person with a known number is stored under it, however the network named them this
 * time, together with the other form of the number.
 */
async function readWriterOf({ keys }: ShopState, from: string, store: Store): Promise<WrittenBy> {
  const [number] = isPhoneNumber(from) ? [null] : await store.read([['HGET', keys.aliases, from]]);
  const writtenBy = typeof number === 'string' ? number : from;
  const [, otherForm] = numberForms(writtenBy);
  const addresses = otherForm === undefined ? [writtenBy] : [writtenBy, otherForm];
  const [stored] = (await store.read([['HMGET', keys.writers, ...addresses]])) as [(string | null)[]];
  const [own, other] = stored.map(decodeWriter);
  const writer = laterWriter(own, other);
  return {
    writtenBy,
    ...(writer === undefined ? {} : { writer }),
    ...(other === undefined || otherForm === undefined ? {} : { wroteAs: otherForm }),
  };
}

/** Reads the person who opts out, with the shops that this one, as one of the pool, lately wrote to them for. */
async function readOptOut(
  state: ShopState,
  from: string,
  store: Store,
  nowMs: number,
): Promise<WrittenBy & Pick<ShopFacts, 'carriedFor'>> {
  const [facts, [carriedFor]] = await Promise.all([
    readWriterOf(state, from, store),
    store.read([carriedForRead(state.keys, nowMs)]),
  ]);
  return { ...facts, carriedFor: originsOf(carriedFor as string[], facts.writtenBy) };
}

async function readCarry(state: ShopState, command: PoolCommand, store: Store): Promise<CarryFacts> {
  const { messageId, to } = subjectOf(command);
  const [[record], writer] = await Promise.all([
    readCarried(state.shard, [messageId], store),
    readWriter(state, { to }, store),
  ]);
  if (command.type !== 'pool.withdraw' || command.reason !== 'CANCELLED') return { ...writer, record };
  return { ...writer, record, entryFromEnd: await readEntryPlace(state, record?.entryText, store) };
}

/**
 * Returns the position of a carried message's entry in the shop's list, from the end. Undefined if it no longer counts.
 */
async function readEntryPlace(
  { keys }: ShopState,
  entryText: string | undefined,
  store: Store,
): Promise<number | undefined> {
  if (entryText === undefined) return undefined;
  const [newest] = (await store.read([newestRead(keys.accepted)])) as [string[]];
  const index = newest.lastIndexOf(entryText);
  return index === -1 ? undefined : index - newest.length;
}

/** For a withdrawn message the recipient does not matter. */
function subjectOf(command: PoolCommand): { readonly messageId: string; readonly to: string } {
  if (command.type === 'pool.offer') {
    return { messageId: command.offer.messageId ?? '', to: command.offer.to };
  }
  if (command.type === 'pool.withdraw') return { messageId: command.messageId, to: '' };
  return { messageId: command.body.id, to: command.body.to ?? '' };
}

/**
 * Reads the facts for the turn on a send. For a first send to a number they are usually in memory, so it does not wait
 * for Redis. This is separate from other commands, since each send would pay for their closures. `available` is true if
 * a session worker can take orders.
 */
export function readSend(
  state: ShopState,
  draft: MessageDraft,
  store: Store,
  available: boolean,
): MaybePromise<ShopFacts> {
  const recipient = readRecipientOf(state, draft.to, store);
  return draft.idempotencyKey !== undefined || recipient instanceof Promise
    ? readOriginalToo({ state, store, available }, draft.idempotencyKey, recipient)
    : { send: recipient, available };
}

async function readOriginalToo(
  { state, store, available }: Pick<FactsQuestion, 'state' | 'store' | 'available'>,
  key: string | undefined,
  recipient: MaybePromise<RecipientFacts>,
): Promise<ShopFacts> {
  const [original, facts] = await Promise.all([
    key === undefined ? undefined : readOriginal(state, { kind: 'message', key }, store),
    recipient,
  ]);
  return { send: { ...facts, original }, available };
}

/** The policy's facts about a recipient; none for a group. */
export function readRecipientOf(state: ShopState, to: string, store: Store): MaybePromise<RecipientFacts> {
  if (isPhoneNumber(to)) return readRecipient(state, to, store);
  if (!isNetworkId(to)) return unknownPerson;
  return mapMaybePromise(readWriter(state, { to }, store), (known) => ({ ...unknownPerson, ...known }));
}

async function readOriginal(
  { shard, shop }: ShopState,
  { kind, key }: { readonly kind: 'message' | 'status'; readonly key: string },
  store: Store,
): Promise<StoredMessage | undefined> {
  const [originalId] = await store.read([['GET', idempotencyKey(shard, { shopId: shop.shopId, kind }, key)]]);
  return typeof originalId === 'string' ? readMessage(shard, originalId, store) : undefined;
}
