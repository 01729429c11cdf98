import type { EgressAddress } from '../../actors/egress-address.ts';
import type { InboundMode } from '../../actors/inbound-mode.ts';
import { SessionCounters } from '../../actors/sessions/session-counters.ts';
import type {
  SendOrder,
  SendOutcome,
  SessionAddress,
  SessionEnd,
  SessionEvent,
  SessionFigures,
  SessionGroup,
  SessionHost,
  SessionListener,
  SessionOpening,
} from '../../actors/sessions/session-host.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DEFAULT_MEMORY_BEHAVIOUR, type MemoryBehaviour, type WrittenMessage } from './memory-behaviour.ts';
import { MemorySession } from './memory-session.ts';

interface Pairing {
  readonly phone: string;
  readonly atMs: number;
}

type ToldLimits = Omit<Extract<SessionEvent, { type: 'session.limits' }>, 'type' | 'generation'>;

interface Shop {
  readonly address: SessionAddress;
  session: MemorySession | undefined;
  inbound: InboundMode;
  pairing: Pairing | undefined;
  groups: readonly SessionGroup[];
  readonly sent: SendOrder[];
  /** The people who wrote: each has a chat with the number. */
  readonly writers: Set<string>;
  /** The limits of the number that the network last reported. */
  limits: ToldLimits;
}

/**
 * The sending component in memory: no workers, no sockets, and a network that the test drives. It serves tests of
 * pacing with a fake clock, and loads whose limit must not be the network. It keeps every promise of the port.
 */
export class MemorySessionHost implements SessionHost {
  readonly #clock: Clock;
  readonly #listener: SessionListener;
  readonly #shops = new Map<string, Shop>();
  readonly #counters = new SessionCounters();
  #behaviour: MemoryBehaviour;
  /** Called with the outcomes of all sessions. */
  readonly #settled = (session: MemorySession, messageId: string, outcome: SendOutcome): void => {
    this.#counters.came(outcome);
    const { generation } = session;
    this.#tell(session, { type: 'session.send_outcome', generation, messageId, outcome });
  };
  #lostSoFar = 0;
  #reachableNow = true;
  #count = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly listener: SessionListener;
    readonly behaviour?: Partial<MemoryBehaviour>;
  }) {
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#behaviour = { ...DEFAULT_MEMORY_BEHAVIOUR, ...options.behaviour };
  }

  open(address: SessionAddress, { generation, pairWith, inbound = 'none' }: SessionOpening): void {
    const shop = this.#shopOf(address);
    shop.inbound = inbound;
    this.#closeSession(shop);
    const session = new MemorySession({
      address,
      generation,
      clock: this.#clock,
      settled: this.#settled,
    });
    shop.session = session;
    session.later(this.#behaviour.connectMs, () => {
      if (!this.#reachableNow) this.#end(shop, 'transient', undefined);
      else if (shop.pairing !== undefined || this.#behaviour.paired) this.#connect(shop, session);
      else if (pairWith === undefined) this.#showQr(shop, session, 1);
      else this.#showCode(shop, session, pairWith);
    });
  }

  close(address: SessionAddress): void {
    this.#closeSession(this.#shopOf(address));
  }

  async erase(address: SessionAddress): Promise<void> {
    this.close(address);
    this.#shops.delete(address.shopId);
  }

  prepare(address: SessionAddress, order: SendOrder): void {
    const shop = this.#shopOf(address);
    const { session } = shop;
    const { messageId } = order;
    if (session?.state !== 'open') {
      const generation = session?.generation ?? 0;
      const outcome = { kind: 'not_sent' } as const;
      this.#clock.after(0, () =>
        this.#tell(shop, { type: 'session.send_outcome', generation, messageId, outcome }),
      );
      return;
    }
    session.hold(order);
    const { checkMs, composeMs } = this.#behaviour;
    const isPerson = order.to.startsWith('+');
    const prepared = (): void => {
      if (session.held(messageId) !== order) return;
      const chat = isPerson ? { hasChat: shop.writers.has(order.to) } : {};
      const { generation } = session;
      this.#tell(shop, { type: 'session.prepared', generation, messageId, writes: [], ...chat });
    };
    const lookedUp = (): void => {
      if (session.held(messageId) !== order) return;
      if (isPerson && !this.#lookUp(shop, session, order)) return;
      this.#clock.after(order.kind === 'status' ? 0 : composeMs, prepared);
    };
    if (isPerson) this.#clock.after(checkMs, lookedUp);
    else lookedUp();
  }

  /** False: the message goes no further. */
  #lookUp(shop: Shop, session: MemorySession, { messageId, to, knownAs, needsChat }: SendOrder): boolean {
    const exists = needsChat && !shop.writers.has(to) ? 'no_chat' : this.#behaviour.exists(to);
    if (exists !== true) {
      const kinds = { silent: 'not_sent', rate_limited: 'rate_limited', no_chat: 'no_chat' } as const;
      session.giveUp(messageId, { kind: exists === false ? 'not_on_network' : kinds[exists] });
      return false;
    }
    const number = this.#behaviour.knownAs(to);
    const { generation } = session;
    if (number !== (knownAs ?? to)) {
      this.#tell(shop, { type: 'session.recipient_known', generation, messageId, number });
    }
    return true;
  }

  transmit(address: SessionAddress, messageId: string): void {
    const shop = this.#shopOf(address);
    const { session } = shop;
    const order = session?.held(messageId);
    if (session === undefined || order === undefined) return;
    const { remembered } = this.#behaviour;
    if (remembered > 0) shop.sent.push(order);
    if (shop.sent.length > remembered) shop.sent.shift();
    const wanted = this.#behaviour.outcome(order);
    const outcome: SendOutcome = wanted === 'silent' ? { kind: 'unknown' } : wanted;
    session.take(order, outcome, wanted === 'silent' ? order.deadlineMs : this.#behaviour.sendMs);
  }

  recall(address: SessionAddress, messageId: string): void {
    this.#shopOf(address).session?.recall(messageId);
  }

  confirmInbound(address: SessionAddress, token: string): void {
    this.#shopOf(address).session?.confirm(token);
  }

  markRead(): void {
    // No test looks at it.
  }

  hearInbound(address: SessionAddress, inbound: InboundMode): void {
    this.#shopOf(address).inbound = inbound;
  }

  refreshGroups(address: SessionAddress): void {
    const shop = this.#shopOf(address);
    const { session, groups } = shop;
    if (session?.state !== 'open' || !this.#behaviour.tellsGroups) return;
    session.later(0, () =>
      this.#tell(shop, { type: 'session.groups', generation: session.generation, groups }),
    );
  }

  async tryEgress({ host }: EgressAddress): Promise<string | undefined> {
    return host === this.#behaviour.deadEgress ? 'the egress cannot be reached (ECONNREFUSED)' : undefined;
  }

  /** It keeps no files. */
  fileHosts = async (): Promise<undefined> => undefined;

  available(): boolean {
    return this.#reachableNow;
  }

  figures(): SessionFigures {
    return { workersLost: this.#lostSoFar, workerHeapBytes: new Map(), ...this.#counters.counts() };
  }

  describe(address: SessionAddress): Record<string, unknown> | undefined {
    const shop = this.#shops.get(address.shopId);
    if (shop?.session === undefined) return undefined;
    const { generation, state, pendingOrders } = shop.session;
    return { generation, state, pendingOrders };
  }

  async stop(): Promise<void> {
    for (const shop of this.#shops.values()) {
      shop.session?.settleOrders('restarted');
      this.#endSession(shop);
    }
  }

  /** Changes how the network behaves from here on. */
  behave(change: Partial<MemoryBehaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...change };
  }

  /**
   * Scans the shop's current QR code with a phone: the credentials are stored and the session asks to be opened again.
   */
  scan(address: SessionAddress, phone: string): void {
    const shop = this.#shopOf(address);
    if (shop.session?.state !== 'qr') throw new Error('the shop shows no code to scan');
    shop.pairing = { phone: phone.replace('+', ''), atMs: this.#clock.wallMs() };
    this.#end(shop, 'restart_required', 515);
  }

  /** The code that the shop shows is typed on the phone it was asked for: as a scan. */
  typeCode(address: SessionAddress, code: string, phone: string): void {
    const shop = this.#shopOf(address);
    if (shop.session?.state !== 'code' || code !== memoryCode(phone.replace('+', ''))) {
      throw new Error('the shop shows no such code for that phone');
    }
    shop.pairing = { phone: phone.replace('+', ''), atMs: this.#clock.wallMs() };
    this.#end(shop, 'restart_required', 515);
  }

  /** A person writes to the shop. Resolves with whether a receipt went out. */
  inbound(address: SessionAddress, message: WrittenMessage): Promise<boolean> {
    const shop = this.#shopOf(address);
    const { session } = shop;
    if (session?.state !== 'open') return Promise.resolve(false);
    this.#count += 1;
    const token = `${session.generation}.${this.#count}`;
    const receipt = session.receipt(token, {
      timeoutMs: this.#behaviour.confirmMs,
      late: () => {
        if (shop.session === session) this.#end(shop, 'transient', undefined);
      },
    });
    this.#counters.received();
    const { from, text, wireId = `WIRE${this.#count}` } = message;
    shop.writers.add(from);
    const { generation } = session;
    const atMs = this.#clock.wallMs();
    const said = shop.inbound === 'none' ? undefined : message.content;
    const told = { wireId, from, text, atMs, ...(said && { content: said }) };
    this.#tell(shop, { type: 'session.inbound', generation, token, ...told });
    return receipt;
  }

  /** The session ends by the network's doing. A logged-out shop has no credentials any more. */
  drop(address: SessionAddress, end: SessionEnd, statusCode?: number): void {
    const shop = this.#shopOf(address);
    if (end === 'logged_out') shop.pairing = undefined;
    this.#end(shop, end, statusCode);
  }

  /** Reports the number's limits for people without a chat, now and at each opening. */
  tellLimits(address: SessionAddress, told: ToldLimits): void {
    const shop = this.#shopOf(address);
    shop.limits = { ...shop.limits, ...told };
    if (shop.session?.state === 'open') this.#tellLimits(shop, shop.session, told);
  }

  /** The network's list of the shop's groups. */
  setGroups(address: SessionAddress, groups: readonly SessionGroup[]): void {
    this.#shopOf(address).groups = groups;
  }

  /** The worker behind the shop's session dies. */
  loseWorker(address: SessionAddress): void {
    const shop = this.#shopOf(address);
    const { session } = shop;
    if (session === undefined) return;
    this.#lostSoFar += 1;
    session.settleOrders('restarted');
    this.#endSession(shop);
    const { generation } = session;
    this.#counters.ended('worker_lost');
    this.#tell(shop, { type: 'session.worker_lost', generation, detail: 'it was told to die' });
  }

  /** The component as a whole goes out of reach, or comes back. */
  setReachable(reachable: boolean): void {
    if (this.#reachableNow === reachable) return;
    this.#reachableNow = reachable;
    for (const shop of this.#shops.values()) {
      if (!reachable) this.loseWorker(shop.address);
      this.#tell(shop, { type: reachable ? 'session.reachable' : 'session.unreachable' });
    }
  }

  /** Returns the orders that the shop put on the wire and that are still remembered. */
  sent(address: SessionAddress): readonly SendOrder[] {
    return this.#shopOf(address).sent;
  }

  #shopOf(address: SessionAddress): Shop {
    const known = this.#shops.get(address.shopId);
    if (known !== undefined) return known;
    const shop: Shop = {
      address,
      session: undefined,
      inbound: 'none',
      pairing: undefined,
      groups: NO_GROUPS,
      sent: [],
      writers: new Set(),
      limits: {},
    };
    this.#shops.set(address.shopId, shop);
    return shop;
  }

  #connect(shop: Shop, session: MemorySession): void {
    shop.pairing ??= {
      phone: this.#behaviour.phone(shop.address),
      atMs: this.#clock.wallMs() - this.#behaviour.pairedAgoMs,
    };
    session.state = 'open';
    const { phone, atMs } = shop.pairing;
    this.#tell(shop, {
      type: 'session.connected',
      generation: session.generation,
      phone,
      pairedAtMs: atMs,
    });
    this.refreshGroups(shop.address);
    if (Object.keys(shop.limits).length > 0) this.#tellLimits(shop, session, shop.limits);
  }

  #tellLimits(shop: Shop, session: MemorySession, told: ToldLimits): void {
    const { generation } = session;
    session.later(0, () => this.#tell(shop, { type: 'session.limits', generation, ...told }));
  }

  #showQr(shop: Shop, session: MemorySession, turn: number): void {
    if (turn > this.#behaviour.qrCount) {
      this.#end(shop, 'qr_exhausted', 408);
      return;
    }
    session.state = 'qr';
    const qr = `memory:${shop.address.shopId}:${session.generation}:${turn}`;
    const expiresAtMs = this.#clock.wallMs() + this.#behaviour.qrMs;
    this.#tell(shop, { type: 'session.qr', generation: session.generation, qr, expiresAtMs });
    session.later(this.#behaviour.qrMs, () => this.#showQr(shop, session, turn + 1));
  }

  #showCode(shop: Shop, session: MemorySession, phone: string): void {
    const refusal = this.#behaviour.codeRefusal(phone);
    if (refusal !== undefined) {
      this.#end(shop, 'pairing_refused', refusal);
      return;
    }
    session.state = 'code';
    const { qrMs, qrCount } = this.#behaviour;
    const expiresAtMs = this.#clock.wallMs() + qrMs * qrCount;
    const { generation } = session;
    this.#tell(shop, { type: 'session.pairing_code', generation, code: memoryCode(phone), expiresAtMs });
    session.later(qrMs * qrCount, () => this.#end(shop, 'qr_exhausted', 408));
  }

  /** Closes like the port: the result is reported later, never from within the call. */
  #closeSession(shop: Shop): void {
    const { session } = shop;
    if (session === undefined) return;
    this.#endSession(shop);
    this.#clock.after(0, () => session.settleOrders('unknown'));
  }

  #end(shop: Shop, end: SessionEnd, statusCode: number | undefined): void {
    const { session } = shop;
    if (session === undefined) return;
    session.settleOrders('unknown');
    this.#endSession(shop);
    const { generation } = session;
    this.#counters.ended(end);
    this.#tell(shop, { type: 'session.closed', generation, end, statusCode, detail: end });
  }

  #endSession(shop: Shop): void {
    const { session } = shop;
    shop.session = undefined;
    session?.end();
  }

  #tell({ address }: Pick<Shop, 'address'>, event: SessionEvent): void {
    this.#listener(address, event);
  }
}

const NO_GROUPS: readonly SessionGroup[] = [];

/** The code by which a phone (digits) is paired in memory: its last digits. */
const memoryCode = (phone: string): string => phone.padStart(8, '0').slice(-8);
