import { isPhoneNumber } from '../../../policy/recipient.ts';
import { type DeclarationFact, isDeclarationActive } from '../../../policy/recipient-class.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Store } from '../../../runtime/store.ts';
import { declarationFact, decodeContact } from '../../tenant/contact-record.ts';
import { tenantKeys } from '../../tenant/tenant-keys.ts';
import { CARRIED_FIELDS, carriedKey, decodeCarried } from '../record/carried-message.ts';
import { decodeMessage, type MessageBody, type MessageState } from '../record/message-record.ts';
import { idempotencyKey, messageKey } from '../record/shop-keys.ts';
import type { MessageDraft } from '../record/shop-operations.ts';
import type { ShopState } from '../record/shop-state.ts';
import { decodeWriter, type Writer } from '../record/writer.ts';
import type { CarryFacts } from './carry-message.ts';
import type { ShopCommand } from './shop-commands.ts';

/** What a turn needs to know beside the shop's state, read before it. */
export interface ShopFacts {
  readonly send?: SendFacts;
  readonly dispatch?: DispatchFacts;
  /** What this shop, as one of the pool, knows of the message it is asked about. */
  readonly carry?: CarryFacts;
  /** Who wrote, for an inbound message. */
  readonly writer?: Writer;
  /** A session worker is there to take orders. */
  readonly available: boolean;
}

/** What the policy asks of a recipient. */
export interface SendFacts {
  /** The original of the same idempotency key. */
  readonly original: { readonly body: MessageBody; readonly state: MessageState } | undefined;
  readonly isCustomer: boolean;
  readonly writer: Writer | undefined;
  readonly declaration: DeclarationFact | null;
}

/** What is looked at again just before the wire. */
export interface DispatchFacts {
  readonly body: MessageBody | undefined;
  readonly writer: Writer | undefined;
  /** Whom a status is shown to: customers, writers and active declarations, less the opted out. */
  readonly audience: readonly string[];
}

/** Reads what the turn on a command will need; nothing where the state is enough. */
export function readShopFacts(options: {
  state: ShopState;
  command: ShopCommand;
  store: Store;
  nowMs: number;
  available: boolean;
}): MaybePromise<ShopFacts> {
  const { state, command, store, nowMs, available } = options;
  if (command.type === 'send') {
    return mapMaybePromise(readSend(state, command.draft, store), (send) => ({ send, available }));
  }
  if (command.type === 'session.composed' && state.inHand?.messageId === command.messageId) {
    return readDispatch(state, command.messageId, store, nowMs).then((dispatch) => ({ dispatch, available }));
  }
  if (command.type === 'session.inbound') {
    return store.read([['HGET', state.keys.writers, command.from]]).then(([stored]) => {
      const writer = decodeWriter(stored as string | null);
      return writer === undefined ? { available } : { writer, available };
    });
  }
  if (isPoolAsk(command)) {
    return readCarry(state, command, store).then((carry) => ({ carry, available }));
  }
  return { available };
}

type PoolCommand = Extract<ShopCommand, { type: 'pool.offer' | 'pool.take' | 'pool.withdraw' }>;

function isPoolAsk(command: ShopCommand): command is PoolCommand {
  return command.type === 'pool.offer' || command.type === 'pool.take' || command.type === 'pool.withdraw';
}

async function readCarry(state: ShopState, command: PoolCommand, store: Store): Promise<CarryFacts> {
  const { messageId, to } = subjectOf(command);
  const [fields, writer] = await store.read([
    ['HMGET', carriedKey(state.shard, messageId), ...CARRIED_FIELDS],
    ['HGET', state.keys.writers, to],
  ]);
  return {
    record: decodeCarried(fields as (string | null)[]),
    writer: decodeWriter(writer as string | null),
  };
}

/** Where a message is withdrawn, its recipient does not matter. */
function subjectOf(command: PoolCommand): { readonly messageId: string; readonly to: string } {
  if (command.type === 'pool.offer') {
    return { messageId: command.offer.messageId ?? '', to: command.offer.to };
  }
  if (command.type === 'pool.withdraw') return { messageId: command.messageId, to: '' };
  return { messageId: command.body.id, to: command.body.to ?? '' };
}

/** Of a first send to a number nothing waits for Redis, as a rule: who it is stands in memory. */
function readSend(state: ShopState, draft: MessageDraft, store: Store): MaybePromise<SendFacts> {
  const recipient = readRecipient(state, draft.to, store);
  if (draft.idempotencyKey === undefined) return recipient;
  return Promise.all([readOriginal(state, draft.idempotencyKey, store), recipient]).then(
    ([original, facts]) => ({ ...facts, original }),
  );
}

/** All that is asked of a recipient; of the idempotency key nothing. */
function readRecipient(state: ShopState, to: string, store: Store): MaybePromise<SendFacts> {
  if (!isPhoneNumber(to)) {
    return { original: undefined, isCustomer: false, writer: undefined, declaration: null };
  }
  const answers = store.lookUp(state.shard, [
    ['SISMEMBER', state.people.customers, to],
    ['HGET', state.keys.writers, to],
    ['HGET', state.people.contacts, to],
  ]);
  return mapMaybePromise(answers, ([isCustomer, writer, contact]) => ({
    original: undefined,
    isCustomer: isCustomer === 1,
    writer: decodeWriter(writer as string | null),
    declaration: declarationFact(decodeContact(contact as string | null)),
  }));
}

async function readOriginal(
  { shard, shop }: ShopState,
  key: string,
  store: Store,
): Promise<SendFacts['original']> {
  const [originalId] = await store.read([['GET', idempotencyKey(shard, shop.shopId, key)]]);
  return typeof originalId === 'string' ? readMessage(shard, originalId, store) : undefined;
}

async function readMessage(
  shard: number,
  messageId: string,
  store: Store,
): Promise<{ body: MessageBody; state: MessageState } | undefined> {
  const [fields] = await store.read([['HMGET', messageKey(shard, messageId), 'body', 'state']]);
  return decodeMessage(fields as (string | null)[]);
}

/** In one round trip: whom it goes to stands with the message in hand. */
async function readDispatch(
  state: ShopState,
  messageId: string,
  store: Store,
  nowMs: number,
): Promise<DispatchFacts> {
  const { shard, keys, inHand } = state;
  const [body, [writer]] = await Promise.all([
    inHand?.carriedFor === undefined
      ? readMessage(shard, messageId, store).then((message) => message?.body)
      : readCarriedBody(shard, messageId, store),
    store.lookUp(shard, [['HGET', keys.writers, inHand?.to ?? '']]),
  ]);
  if (body?.kind === 'status') {
    return { body, writer: undefined, audience: await readAudience(state, store, nowMs) };
  }
  return { body, writer: decodeWriter(writer as string | null), audience: [] };
}

async function readCarriedBody(
  shard: number,
  messageId: string,
  store: Store,
): Promise<MessageBody | undefined> {
  const [fields] = await store.read([['HMGET', carriedKey(shard, messageId), ...CARRIED_FIELDS]]);
  return decodeCarried(fields as (string | null)[])?.body;
}

async function readAudience(state: ShopState, store: Store, nowMs: number): Promise<string[]> {
  const tenant = tenantKeys(state.shop.tenantId);
  const [customers, contacts, writers] = (await store.read([
    ['SMEMBERS', tenant.customers],
    ['HVALS', tenant.contacts],
    ['HGETALL', state.keys.writers],
  ])) as [string[], string[], string[]];
  const audience = new Set(customers);
  for (const stored of contacts) {
    const contact = decodeContact(stored);
    if (contact && isDeclarationActive(declarationFact(contact), nowMs)) audience.add(contact.phone);
  }
  // HGETALL answers a flat list of field and value through a pipeline.
  for (let index = 0; index + 1 < writers.length; index += 2) {
    const phone = writers[index] ?? '';
    if (decodeWriter(writers[index + 1] ?? null)?.optedOut) audience.delete(phone);
    else audience.add(phone);
  }
  return [...audience];
}
