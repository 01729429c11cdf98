import type { Failure, Outcome } from '../../../actors/failure.ts';
import { credentialCiphers } from '../../../actors/sessions/credential-cipher.ts';
import { egressVault } from '../../../actors/sessions/egress-vault.ts';
import type { SendOutcome, SessionEvent } from '../../../actors/sessions/session-events.ts';
import { PACING_TIMES } from '../../../actors/shops/machines/pacing-times.ts';
import { NO_DRAFT } from '../../../actors/shops/message-content.ts';
import type { ShopCommand } from '../../../actors/shops/protocol/shop-commands.ts';
import type { ShopEffect } from '../../../actors/shops/protocol/shop-effect.ts';
import type { RecipientAndOriginal } from '../../../actors/shops/reading/recipient-facts.ts';
import { numberVault } from '../../../actors/shops/records/number-vault.ts';
import { shopAddress } from '../../../actors/shops/records/shop-keys.ts';
import type { Writer } from '../../../actors/shops/records/writer.ts';
import type { AcceptedReply, MessageDraft, ShopReference } from '../../../actors/shops/shop-operations.ts';
import { AcceptedList } from '../../../actors/shops/state/accepted-list.ts';
import { loadShop } from '../../../actors/shops/state/load-shop.ts';
import type { ShopState } from '../../../actors/shops/state/shop-state.ts';
import type { DispatchFacts } from '../../../actors/shops/turns/dispatch/dispatch-facts.ts';
import { shopBehaviour } from '../../../actors/shops/turns/shop-behaviour.ts';
import type { FactsOf, ShopFacts } from '../../../actors/shops/turns/shop-facts.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { isOptOut } from '../../../policy/opt-out.ts';
import { resolveSettings } from '../../../policy/tenant-settings.ts';
import type { DueTimer, RuntimeCommand, Turn } from '../../../runtime/behaviour.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import type { Write } from '../../../runtime/store.ts';
import { MemoryRedis } from '../../runtime/memory-redis.ts';
import { EVENT_LIMITS } from '../../testbed/event-limits.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { storeOf } from './store-of.ts';
import { WrittenMessages } from './written-messages.ts';

const shop = { tenantId: '65f000000000000000000001', shopId: '65f000000000000000000002' };
const noSend = { original: undefined, isCustomer: true, writer: undefined, declaration: null } as const;

/** A send of a text, as its caller wrote it. */
export function textDraft(to: string, text: string): MessageDraft {
  return { to, ...NO_DRAFT, text, mediaType: 'image', idempotencyKey: undefined, requestId: 'test' };
}

/** The vault in which harnesses keep numbers of erased shops. */
export const vault = numberVault([Buffer.alloc(32, 1)]);

/** Seals the egress of harnesses' shops. */
export const testEgressVault = egressVault(credentialCiphers([Buffer.alloc(32, 1)]));

/** Facts for the command. */
type SomeFacts<Command extends { readonly type: ShopCommand['type'] }> = Partial<FactsOf<Command['type']>>;

interface HarnessOptions {
  readonly seed?: number;
  readonly onLedgerReplaced?: (shop: ShopReference) => void;
}

/** A shop's behaviour driven by a test: turns run at once, time moves only on request, and effects are kept. */
export class ShopHarness {
  nowMs = Date.parse('2026-03-01T08:00:00Z');
  hasWorker = true;
  readonly effects: ShopEffect[] = [];
  readonly writes: Write[] = [];
  /** The failures to read stored messages while the shop was suspended. */
  readonly unreadable: unknown[] = [];
  readonly #written = new WrittenMessages();
  /** The newest stored state of each message. */
  readonly messages = this.#written.states;
  /** The accepted bodies, by message. */
  readonly bodies = this.#written.bodies;
  /** The Redis data of this shop. */
  readonly redis: MemoryRedis;
  state: ShopState;
  readonly #behaviour: ReturnType<typeof shopBehaviour>;
  #next = 0;

  private constructor(
    state: ShopState,
    redis: MemoryRedis,
    { seed = 1, onLedgerReplaced = () => undefined }: HarnessOptions = {},
  ) {
    this.state = state;
    this.redis = redis;
    const random = seededRandom(seed);
    this.#behaviour = shopBehaviour({
      random,
      times: { sendGap: { minMs: 6_000, maxMs: 20_000 }, ...PACING_TIMES },
      makeId: objectIdGenerator(random),
      makeWireId: () => `3EB0${(this.#next++).toString(16).padStart(18, '0')}`,
      eventLimits: EVENT_LIMITS,
      retentionMs: 30 * DAY_MS,
      platformName: 'Market Square',
      perform: () => undefined,
      leave: () => undefined,
      hasWorker: () => this.hasWorker,
      onLedgerReplaced,
      vault,
      egressVault: testEgressVault,
      onUnreadable: (_shop, error) => this.unreadable.push(error),
    });
  }

  static async start(seed = 1, ownShop: ShopReference = shop): Promise<ShopHarness> {
    const redis = new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 });
    const { shops } = tenantKeys(ownShop.tenantId);
    redis.run(['HSET', shops, ownShop.shopId, JSON.stringify({ name: 'Bakery' })]);
    const state = await loadShop(shopAddress(ownShop), storeOf(redis), 0, testEgressVault);
    if (state === undefined) throw new Error('the shop was not loaded');
    return new ShopHarness(state, redis, { seed });
  }

  /** Returns a connected shop whose number was paired long ago, so that no cap of the warm-up refuses its sends. */
  static async connected(seed = 1, ownShop: ShopReference = shop): Promise<ShopHarness> {
    const harness = await ShopHarness.start(seed, ownShop);
    harness.command({ type: 'connect' });
    harness.session({
      type: 'session.connected',
      phone: '33600000001',
      pairedAtMs: harness.nowMs - 20 * DAY_MS,
    });
    return harness;
  }

  /** Lets another program replace the session once, and connects it again. The next time, the session is lost. */
  replacedOnce(): void {
    const { phone, pairedAtMs } = this.state.channel.context;
    this.session({ type: 'session.closed', end: 'replaced', statusCode: 440, detail: '' });
    this.pass(30_000);
    this.session({ type: 'session.connected', phone: phone ?? '', pairedAtMs: pairedAtMs ?? 0 });
  }

  /** Runs a command with these facts and the usual ones, and commits its turn. Returns the reply. */
  command<Command extends ShopCommand>(command: Command, facts: SomeFacts<Command> = {}): unknown {
    return this.#take(this.decide(command, facts));
  }

  /** Runs a command like `command`, with the facts that its actor reads from the store. */
  async ask(command: ShopCommand): Promise<unknown> {
    return this.command(command, await this.facts(command));
  }

  /** Reads the facts for a command as its actor does. */
  async facts<Command extends ShopCommand>(
    command: Command,
    store = storeOf(this.redis),
  ): Promise<FactsOf<Command['type']>> {
    const context = { address: shopAddress(this.state.shop), store, nowMs: this.nowMs };
    return (await this.#behaviour.readFacts(this.state, command, context)) as FactsOf<Command['type']>;
  }

  /** Decides a command like `command`. Returns the turn, which is not committed. */
  decide<Command extends ShopCommand>(
    command: Command,
    facts: SomeFacts<Command> = {},
  ): Turn<ShopState, ShopEffect> {
    const usual = { hasWorker: this.hasWorker, ...senderOf(command) };
    return this.decideBy(command, { ...usual, ...facts });
  }

  /** Decides a command by these facts alone. Returns the turn, which is not committed. */
  decideBy(command: ShopCommand, facts: ShopFacts): Turn<ShopState, ShopEffect> {
    const address = shopAddress(this.state.shop);
    return this.#behaviour.turn(this.state, command, { address, nowMs: this.nowMs, facts });
  }

  /** Runs an event of the session like `command`. The session is the newest one unless a generation is given. */
  session<Event extends DistributiveOmit<SessionEvent, 'generation'>>(
    event: Event,
    facts: SomeFacts<Event> = {},
    generation?: number,
  ): void {
    const current = generation ?? this.state.channel.context.generation;
    this.command({ ...event, generation: current } as SessionEvent, facts as object);
  }

  /** Sends to a number, with `pool` also through the pool. Returns the message's id, or the code of the refusal. */
  send(to = '+33612345678', text = `hello ${this.#next}`, pool?: 'ask' | ShopReference): string {
    return idOrCode(this.#send(textDraft(to, text), {}, pool));
  }

  /** Sends to a person who is no customer and never wrote. Returns the message's id, or the refusal. */
  sendToStranger(to: string): string | Failure {
    const reply = this.#send(textDraft(to, `hello ${to}`), { isCustomer: false });
    return reply.ok ? reply.value.accepted.id : reply.failure;
  }

  /** Sends to a person with these known facts. Returns the message's id, or the code of the refusal. */
  sendTo(to: string, known: Partial<RecipientAndOriginal>): string {
    return idOrCode(this.#send(textDraft(to, `hello ${to}`), known));
  }

  #send(
    draft: MessageDraft,
    facts: Partial<RecipientAndOriginal>,
    pool?: 'ask' | ShopReference,
  ): Outcome<{ accepted: AcceptedReply }> {
    const command = { type: 'send', draft, settings: resolveSettings({}), pool } as const;
    return this.command(command, { send: { ...noSend, ...facts } }) as Outcome<{ accepted: AcceptedReply }>;
  }

  /**
   * Sends the message through both looks at it. `wrote` is the recipient's last message, which both find, and `hasChat`
   * says whether the session has a token of the recipient.
   */
  toWire(messageId: string, wrote: 'hello' | 'STOP' | 'nothing' = 'hello', hasChat?: boolean): void {
    const writer =
      wrote === 'nothing'
        ? undefined
        : { lastInboundAtMs: 0, stampMs: 0, optedOut: wrote === 'STOP', wireIds: [] };
    this.toWireBy(messageId, { body: this.bodies.get(messageId), writer, audience: [] }, hasChat);
  }

  /** Passes the first look at the message, which finds nothing against it. The session then prepares the message. */
  passFirstLook(messageId: string): void {
    const dispatch = { body: this.bodies.get(messageId), writer: undefined, audience: [] };
    this.command({ type: 'first_look', messageId }, { dispatch });
  }

  /** The session reports the message as prepared, with these steps of its ratchets. The second look follows. */
  reportPrepared(messageId: string, writes: readonly Write[], writer?: Writer): void {
    const dispatch = { body: this.bodies.get(messageId), writer, audience: [] };
    this.session({ type: 'session.prepared', messageId, writes }, { dispatch });
  }

  /** Like `toWire`, with these facts for both looks. The message is sent as far as they allow. */
  toWireBy(messageId: string, dispatch: DispatchFacts, hasChat?: boolean): void {
    const chat = hasChat === undefined ? {} : { hasChat };
    this.command({ type: 'first_look', messageId }, { dispatch });
    this.session({ type: 'session.prepared', messageId, writes: [], ...chat }, { dispatch });
  }

  outcome(messageId: string, outcome: SendOutcome): void {
    this.session({ type: 'session.send_outcome', messageId, outcome });
  }

  /**
   * Moves the clock on, and fires the timers that are due on the way. Returns how many fired. Throws if a turn leaves
   * its moment unchanged, because the runtime would not deliver that moment again.
   */
  pass(durationMs: number): number {
    const untilMs = this.nowMs + durationMs;
    for (let fired = 0; fired < 1_000; fired += 1) {
      const [dueTimer] = [...this.#behaviour.timers(this.state)].sort(
        (left, right) => left.dueAtMs - right.dueAtMs,
      );
      if (dueTimer === undefined || dueTimer.dueAtMs > untilMs) {
        this.nowMs = untilMs;
        return fired;
      }
      this.nowMs = Math.max(this.nowMs, dueTimer.dueAtMs);
      const { id, dueAtMs } = dueTimer;
      this.command({ type: 'timer', id } satisfies RuntimeCommand);
      // A shop that is being handed over starts no work.
      if (
        this.state.isDispatching &&
        this.timers().some((timer) => timer.id === id && timer.dueAtMs === dueAtMs)
      )
        throw new Error(`the turn left the moment of "${id}" unchanged`);
    }
    throw new Error('timers never came to rest');
  }

  /** Lets a new process take over the shop with what was committed. */
  restart(cause: 'activation' | 'crash' = 'activation'): void {
    const address = shopAddress(this.state.shop);
    this.#take(this.#behaviour.activated(this.state, { address, nowMs: this.nowMs, cause }));
  }

  /**
   * Returns the shop as another process would have it now, from this memory or from the store. Another `seed` makes
   * other ids.
   */
  async successor(
    from: 'memory' | 'store',
    cause: 'activation' | 'crash' = 'activation',
    seed = 1,
  ): Promise<ShopHarness> {
    const redis = this.redis.copy();
    const acceptedList = Object.assign(new AcceptedList(0, 0, 0), this.state.acceptedList);
    const state = from === 'memory' ? { ...this.state, acceptedList } : await this.#load(redis);
    const successor = new ShopHarness(state, redis, { seed });
    successor.nowMs = this.nowMs;
    successor.restart(cause);
    successor.pass(0);
    return successor;
  }

  /** Checks the stored data of the shop, as if it waited for an operator since `sinceMs`. */
  async checkSuspended(sinceMs: number): Promise<void> {
    const address = shopAddress(this.state.shop);
    const context = { store: storeOf(this.redis), nowMs: this.nowMs, sinceMs };
    const ended = await this.#behaviour.suspended?.(address, context);
    this.#take({ ...ended });
  }

  /** True if its actor stays in memory, and is loaded again after a restart. */
  mustLive(): boolean {
    return this.#behaviour.mustLive(this.state);
  }

  /** Returns the moments for which the shop waits. */
  timers(): readonly DueTimer[] {
    return this.#behaviour.timers(this.state);
  }

  /** Returns the shop as another process loads it with another stored ledger, before its first turn. */
  async loadedWith(stored: {
    readonly ledger: readonly string[];
    readonly onLedgerReplaced: (shop: ShopReference) => void;
  }): Promise<ShopHarness> {
    const redis = this.redis.copy();
    redis.values.set(this.state.keys.accepted, [...stored.ledger]);
    const loader = new ShopHarness(this.state, redis, stored);
    loader.nowMs = this.nowMs;
    loader.state = await loader.#load(redis);
    return loader;
  }

  /** Loads the shop from this store like its actor. */
  async #load(redis: MemoryRedis): Promise<ShopState> {
    const state = await this.#behaviour.load(shopAddress(this.state.shop), storeOf(redis), this.nowMs);
    if (state === undefined) throw new Error('the shop was not loaded');
    return state;
  }

  /** Runs the shop's reaction to a command that made the actor throw. */
  recover(command: ShopCommand): void {
    const turn = this.#behaviour.recover?.(this.state, command, {
      address: shopAddress(this.state.shop),
      nowMs: this.nowMs,
    });
    if (turn !== undefined) this.#take(turn);
  }

  /** Begins the hand-over of the shop's shard. */
  drain(): void {
    const turn = this.#behaviour.draining?.(this.state, {
      address: shopAddress(this.state.shop),
      nowMs: this.nowMs,
    });
    if (turn !== undefined) this.#take(turn);
  }

  /** True if a hand-over need not wait for the shop. */
  get isSettled(): boolean {
    return this.#behaviour.settled?.(this.state) ?? true;
  }

  statusOf(messageId: string): string {
    const { status, reason } = this.messages.get(messageId) ?? { status: 'queued', reason: null };
    return reason === null ? status : `${status} ${reason}`;
  }

  effectsOf<Type extends ShopEffect['type']>(type: Type): Extract<ShopEffect, { type: Type }>[] {
    return this.effects.filter(
      (effect): effect is Extract<ShopEffect, { type: Type }> => effect.type === type,
    );
  }

  /** The messages that effects of this type are about. */
  idsOf(type: 'first_look' | 'recall'): string[] {
    return this.effectsOf(type).map(({ messageId }) => messageId);
  }

  #take(turn: Turn<ShopState, ShopEffect>): unknown {
    this.state = turn.state ?? this.state;
    turn.committed?.();
    for (const write of turn.writes ?? []) {
      this.writes.push(write);
      this.redis.run(write);
      this.#written.note(write);
    }
    this.effects.push(...(turn.effects ?? []));
    return turn.reply;
  }
}

const idOrCode = (reply: Outcome<{ accepted: AcceptedReply }>): string =>
  reply.ok ? reply.value.accepted.id : reply.failure.code;

/** Returns the facts about the sender of a message whom the shop does not know. */
function senderOf(command: ShopCommand): object {
  if (command.type === 'pool.opt_out') return { sender: { writtenBy: command.from } };
  if (command.type !== 'session.inbound') return {};
  return { received: { writtenBy: command.from, optsOut: isOptOut(command.text) } };
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;
