import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
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
} from './session-host.ts';
import { SessionTally } from './session-tally.ts';

/** How the network in memory behaves. */
export interface MemoryBehaviour {
  /** Shops have credentials from the start: `open` leads to `connected` without a scan. */
  readonly paired: boolean;
  /** How long ago shops were paired that have credentials from the start. */
  readonly pairedAgoMs: number;
  /** The number a shop connects with, digits only. */
  readonly phone: (shop: SessionAddress) => string;
  readonly connectMs: number;
  readonly checkMs: number;
  readonly composeMs: number;
  readonly sendMs: number;
  /** Life of each QR code, and how many there are. */
  readonly qrMs: number;
  readonly qrCount: number;
  readonly exists: (to: string) => boolean | 'silent' | 'rate_limited';
  /** What a send comes to; `silent`: nothing is heard until the deadline. */
  readonly outcome: (order: SendOrder) => SendOutcome | 'silent';
  /** How long an inbound message waits for its confirmation before the session is dropped. */
  readonly confirmMs: number;
  /** How many of its last orders each shop remembers, for whoever looks at them. */
  readonly remembered: number;
}

const DEFAULT_BEHAVIOUR: MemoryBehaviour = {
  paired: false,
  pairedAgoMs: 0,
  phone: (shop) => `1${Number.parseInt(shop.shopId.slice(-8), 16)}`,
  connectMs: 1,
  checkMs: 1,
  composeMs: 1,
  sendMs: 1,
  qrMs: 20_000,
  qrCount: 6,
  exists: () => true,
  outcome: () => ({ kind: 'acknowledged' }),
  confirmMs: 10_000,
  remembered: 1_000,
};

interface Pairing {
  readonly phone: string;
  readonly atMs: number;
}

interface Session {
  readonly generation: number;
  state: 'opening' | 'qr' | 'open';
  qr: string | undefined;
  readonly orders: Map<string, ArmedTimer>;
  readonly timers: Set<ArmedTimer>;
  readonly inbound: Map<string, { confirm(): void; refuse(): void }>;
}

interface Shop {
  readonly address: SessionAddress;
  session: Session | undefined;
  pairing: Pairing | undefined;
  groups: readonly SessionGroup[];
  readonly sent: SendOrder[];
}

/**
 * The sending component in memory: no workers, no sockets, a network that does as it is told. For tests of pacing with
 * a clock turned by hand, and for load where the network must not be the limit. Keeps every promise of the port.
 */
export class MemorySessionHost implements SessionHost {
  readonly #clock: Clock;
  readonly #listener: SessionListener;
  readonly #shops = new Map<string, Shop>();
  readonly #tally = new SessionTally();
  #behaviour: MemoryBehaviour;
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
    this.#behaviour = { ...DEFAULT_BEHAVIOUR, ...options.behaviour };
  }

  open(address: SessionAddress, { generation }: { readonly generation: number }): void {
    const shop = this.#shopOf(address);
    this.#closeSession(shop);
    const session: Session = {
      generation,
      state: 'opening',
      qr: undefined,
      orders: new Map(),
      timers: new Set(),
      inbound: new Map(),
    };
    shop.session = session;
    this.#later(session, this.#behaviour.connectMs, () => {
      if (!this.#reachableNow) this.#end(shop, 'transient', undefined);
      else if (shop.pairing === undefined && !this.#behaviour.paired) this.#showQr(shop, session, 1);
      else this.#connect(shop, session);
    });
  }

  close(address: SessionAddress): void {
    this.#closeSession(this.#shopOf(address));
  }

  async erase(address: SessionAddress): Promise<void> {
    this.close(address);
    this.#shops.delete(address.shopId);
  }

  check(address: SessionAddress, order: { readonly messageId: string; readonly to: string }): void {
    const { messageId } = order;
    const shop = this.#shopOf(address);
    const answer = shop.session?.state === 'open' ? this.#behaviour.exists(order.to) : 'silent';
    const generation = shop.session?.generation ?? 0;
    this.#clock.after(this.#behaviour.checkMs, () =>
      this.#tell(shop, {
        type: 'session.recipient_checked',
        generation,
        messageId,
        exists: typeof answer === 'boolean' ? answer : undefined,
        rateLimited: answer === 'rate_limited',
      }),
    );
  }

  compose(
    address: SessionAddress,
    order: { readonly messageId: string; readonly to: string; readonly textLength: number },
  ): void {
    const shop = this.#shopOf(address);
    const { messageId } = order;
    const generation = shop.session?.generation ?? 0;
    this.#clock.after(this.#behaviour.composeMs, () =>
      this.#tell(shop, { type: 'session.composed', generation, messageId }),
    );
  }

  send(address: SessionAddress, order: SendOrder): void {
    const shop = this.#shopOf(address);
    const { session } = shop;
    const { messageId } = order;
    if (session?.state !== 'open') {
      const generation = session?.generation ?? 0;
      this.#clock.after(0, () =>
        this.#tell(shop, {
          type: 'session.send_outcome',
          generation,
          messageId,
          outcome: { kind: 'not_sent' },
        }),
      );
      return;
    }
    shop.sent.push(order);
    if (shop.sent.length > this.#behaviour.remembered) shop.sent.shift();
    const wanted = this.#behaviour.outcome(order);
    const outcome: SendOutcome = wanted === 'silent' ? { kind: 'unknown' } : wanted;
    const timer = this.#clock.after(wanted === 'silent' ? order.deadlineMs : this.#behaviour.sendMs, () =>
      this.#settle(shop, session, messageId, outcome),
    );
    session.orders.set(messageId, timer);
  }

  recall(): void {
    // What is given to it is on the wire at once.
  }

  confirmInbound(address: SessionAddress, token: string): void {
    this.#shopOf(address).session?.inbound.get(token)?.confirm();
  }

  refreshGroups(address: SessionAddress): void {
    const shop = this.#shopOf(address);
    const { session, groups } = shop;
    if (session?.state !== 'open') return;
    this.#later(session, 0, () =>
      this.#tell(shop, { type: 'session.groups', generation: session.generation, groups }),
    );
  }

  available(): boolean {
    return this.#reachableNow;
  }

  figures(): SessionFigures {
    return { workersLost: this.#lostSoFar, workerHeapBytes: new Map(), ...this.#tally.counts() };
  }

  describe(address: SessionAddress): Record<string, unknown> | undefined {
    const shop = this.#shops.get(address.shopId);
    if (shop?.session === undefined) return undefined;
    const { generation, state, orders } = shop.session;
    return { generation, state, ordersInHand: orders.size };
  }

  async stop(): Promise<void> {
    for (const shop of this.#shops.values()) {
      if (shop.session !== undefined) this.#settleOrders(shop, shop.session, 'restarted');
      this.#endSession(shop);
    }
  }

  /** Changes how the network behaves from here on. */
  behave(change: Partial<MemoryBehaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...change };
  }

  /** A phone scans the shop's current QR code: the credentials are stored and the session asks to be opened anew. */
  scan(address: SessionAddress, phone: string): void {
    const shop = this.#shopOf(address);
    if (shop.session?.state !== 'qr') throw new Error('the shop shows no code to scan');
    shop.pairing = { phone: phone.replace('+', ''), atMs: this.#clock.wallMs() };
    this.#end(shop, 'restart_required', 515);
  }

  /** A person writes to the shop. Resolves with whether a receipt went out. */
  inbound(
    address: SessionAddress,
    message: { readonly from: string; readonly text: string; readonly wireId?: string },
  ): Promise<boolean> {
    const shop = this.#shopOf(address);
    const { session } = shop;
    if (session?.state !== 'open') return Promise.resolve(false);
    this.#count += 1;
    const token = `${session.generation}.${this.#count}`;
    return new Promise((resolve) => {
      const settle = (receipt: boolean): void => {
        session.inbound.delete(token);
        patience.cancel();
        resolve(receipt);
      };
      const patience = this.#clock.after(this.#behaviour.confirmMs, () => {
        if (shop.session === session) this.#end(shop, 'transient', undefined);
        settle(false);
      });
      this.#tally.received();
      session.inbound.set(token, { confirm: () => settle(true), refuse: () => settle(false) });
      const { from, text, wireId = `WIRE${this.#count}` } = message;
      const atMs = this.#clock.wallMs();
      this.#tell(shop, {
        type: 'session.inbound',
        generation: session.generation,
        token,
        wireId,
        from,
        text,
        atMs,
      });
    });
  }

  /** The session ends by the network's doing. A logged-out shop has no credentials any more. */
  drop(address: SessionAddress, end: SessionEnd, statusCode?: number): void {
    const shop = this.#shopOf(address);
    if (end === 'logged_out') shop.pairing = undefined;
    this.#end(shop, end, statusCode);
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
    this.#settleOrders(shop, session, 'restarted');
    this.#endSession(shop);
    const { generation } = session;
    this.#tally.ended('worker_lost');
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

  /** What the shop put on the wire, as far as it is remembered. */
  sent(address: SessionAddress): readonly SendOrder[] {
    return this.#shopOf(address).sent;
  }

  #shopOf(address: SessionAddress): Shop {
    const known = this.#shops.get(address.shopId);
    if (known !== undefined) return known;
    const shop: Shop = { address, session: undefined, pairing: undefined, groups: [], sent: [] };
    this.#shops.set(address.shopId, shop);
    return shop;
  }

  #connect(shop: Shop, session: Session): void {
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
  }

  #showQr(shop: Shop, session: Session, turn: number): void {
    if (turn > this.#behaviour.qrCount) {
      this.#end(shop, 'qr_exhausted', 408);
      return;
    }
    session.state = 'qr';
    session.qr = `memory:${shop.address.shopId}:${session.generation}:${turn}`;
    const { qr } = session;
    const expiresAtMs = this.#clock.wallMs() + this.#behaviour.qrMs;
    this.#tell(shop, { type: 'session.qr', generation: session.generation, qr, expiresAtMs });
    this.#later(session, this.#behaviour.qrMs, () => this.#showQr(shop, session, turn + 1));
  }

  #settle(shop: Shop, session: Session, messageId: string, outcome: SendOutcome): void {
    if (!session.orders.delete(messageId)) return;
    const { generation } = session;
    this.#tally.came(outcome);
    this.#tell(shop, { type: 'session.send_outcome', generation, messageId, outcome });
  }

  #settleOrders(shop: Shop, session: Session, kind: 'unknown' | 'restarted'): void {
    for (const [messageId, timer] of [...session.orders]) {
      timer.cancel();
      this.#settle(shop, session, messageId, { kind });
    }
  }

  /** As an order of the port's: what comes of it is told later, never from within the call. */
  #closeSession(shop: Shop): void {
    const { session } = shop;
    if (session === undefined) return;
    this.#endSession(shop);
    this.#clock.after(0, () => this.#settleOrders(shop, session, 'unknown'));
  }

  #end(shop: Shop, end: SessionEnd, statusCode: number | undefined): void {
    const { session } = shop;
    if (session === undefined) return;
    this.#settleOrders(shop, session, 'unknown');
    this.#endSession(shop);
    const { generation } = session;
    this.#tally.ended(end);
    this.#tell(shop, { type: 'session.closed', generation, end, statusCode, detail: end });
  }

  #endSession(shop: Shop): void {
    const { session } = shop;
    shop.session = undefined;
    for (const timer of session?.timers ?? []) timer.cancel();
    for (const waiting of [...(session?.inbound.values() ?? [])]) waiting.refuse();
  }

  #later(session: Session, delayMs: number, act: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      session.timers.delete(timer);
      act();
    });
    session.timers.add(timer);
  }

  #tell(shop: Shop, event: SessionEvent): void {
    this.#listener(shop.address, event);
  }
}
