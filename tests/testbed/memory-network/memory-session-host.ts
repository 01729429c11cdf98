import type { EgressAddress } from '../../../actors/egress-address.ts';
import { SessionCounters } from '../../../actors/sessions/session-counters.ts';
import type {
  SendOutcome,
  SessionEnd,
  SessionEvent,
  SessionGroup,
} from '../../../actors/sessions/session-events.ts';
import type {
  SendOrder,
  SessionAddress,
  SessionFigures,
  SessionHost,
  SessionListener,
  SessionOpening,
  SessionOrder,
} from '../../../actors/sessions/session-host.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { DEFAULT_MEMORY_BEHAVIOUR, type MemoryBehaviour, type WrittenMessage } from './memory-behaviour.ts';
import { MemorySends } from './memory-sends.ts';
import { MemorySession } from './memory-session.ts';
import type { MemoryShop, ReadMessage, ToldLimits } from './memory-shop.ts';

/**
 * The sending component in memory: no workers, no sockets, and a network that the test drives. It serves tests of
 * pacing with a fake clock, and loads whose limit must not be the network. It keeps every promise of the port.
 */
export class MemorySessionHost implements SessionHost {
  readonly #clock: Clock;
  readonly #listener: SessionListener;
  readonly #shops = new Map<string, MemoryShop>();
  readonly #counters = new SessionCounters();
  readonly #sends: MemorySends;
  #behaviour: MemoryBehaviour;
  /** Called with the outcomes of all sessions. */
  readonly #settled = (session: MemorySession, messageId: string, outcome: SendOutcome): void => {
    this.#counters.countOutcome(outcome);
    const { generation } = session;
    this.#tell(session, { type: 'session.send_outcome', generation, messageId, outcome });
  };
  #lostSoFar = 0;
  #count = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly listener: SessionListener;
    readonly behaviour?: Partial<MemoryBehaviour>;
  }) {
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#behaviour = { ...DEFAULT_MEMORY_BEHAVIOUR, ...options.behaviour };
    this.#sends = new MemorySends({
      clock: options.clock,
      behaviour: () => this.#behaviour,
      tell: (shop, event) => this.#tell(shop, event),
    });
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
      if (shop.pairing !== undefined) this.#connect(shop, session);
      else if (pairWith !== undefined) this.#showCode(shop, session, pairWith);
      else if (this.#behaviour.paired) this.#connect(shop, session);
      else this.#showQr(shop, session, 1);
    });
  }

  close(address: SessionAddress): void {
    this.#closeSession(this.#shopOf(address));
  }

  async erase(address: SessionAddress): Promise<void> {
    this.close(address);
    this.#shops.delete(address.shopId);
  }

  order(address: SessionAddress, order: SessionOrder): void {
    const shop = this.#shopOf(address);
    switch (order.type) {
      case 'prepare':
        this.#sends.prepare(shop, order.order);
        break;
      case 'transmit':
        this.#sends.transmit(shop, order.messageId);
        break;
      case 'recall':
        shop.session?.recall(order.messageId);
        break;
      case 'do_not_repeat':
        // A session in memory sends nothing twice.
        break;
      case 'confirm':
        shop.session?.confirm(order.token);
        break;
      case 'mark_read':
        if (shop.session?.state === 'open') shop.read.push({ from: order.from, wireId: order.wireId });
        break;
      case 'set_inbound_mode':
        shop.inbound = order.inbound;
        break;
      case 'refresh_groups':
        this.#refreshGroups(shop);
        break;
      default:
        order satisfies never;
    }
  }

  async tryEgress({ host }: EgressAddress): Promise<string | undefined> {
    return host === this.#behaviour.deadEgress ? 'the egress cannot be reached (ECONNREFUSED)' : undefined;
  }

  /** The network in memory keeps no files. */
  fileHosts = async (): Promise<undefined> => undefined;

  isAvailable(): boolean {
    return true;
  }

  figures(): SessionFigures {
    return { workersLost: this.#lostSoFar, workerHeapBytes: HEAP_BYTES, ...this.#counters.counts() };
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
    if (shop.session?.state !== 'code' || code !== memoryCode(phone.replace('+', '')))
      throw new Error('the shop shows no such code for that phone');
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
    this.#counters.countReceived();
    const { from, text, wireId = `WIRE${this.#count}` } = message;
    shop.writers.add(from);
    const { generation } = session;
    const atMs = this.#clock.wallMs();
    const reportedContent = shop.inbound === 'none' ? undefined : message.content;
    const told = {
      wireId,
      from,
      text,
      atMs,
      ...(reportedContent === undefined ? {} : { content: reportedContent }),
    };
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
    this.#counters.countEnd('worker_lost');
    this.#tell(shop, { type: 'session.worker_lost', generation, detail: 'it was told to die' });
  }

  /** Returns the orders that the shop put on the wire and that are still remembered. */
  sent(address: SessionAddress): readonly SendOrder[] {
    return this.#shopOf(address).sent;
  }

  /** Returns the messages that the shop marked as read. */
  markedRead(address: SessionAddress): readonly ReadMessage[] {
    return this.#shopOf(address).read;
  }

  #shopOf(address: SessionAddress): MemoryShop {
    const knownShop = this.#shops.get(address.shopId);
    if (knownShop !== undefined) return knownShop;
    const shop: MemoryShop = {
      address,
      session: undefined,
      inbound: 'none',
      pairing: undefined,
      groups: NO_GROUPS,
      sent: [],
      read: [],
      writers: new Set(),
      limits: {},
    };
    this.#shops.set(address.shopId, shop);
    return shop;
  }

  #connect(shop: MemoryShop, session: MemorySession): void {
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
    this.#refreshGroups(shop);
    if (Object.keys(shop.limits).length > 0) this.#tellLimits(shop, session, shop.limits);
  }

  #refreshGroups(shop: MemoryShop): void {
    const { session, groups } = shop;
    if (session?.state !== 'open' || !this.#behaviour.tellsGroups) return;
    session.later(0, () =>
      this.#tell(shop, { type: 'session.groups', generation: session.generation, groups }),
    );
  }

  #tellLimits(shop: MemoryShop, session: MemorySession, told: ToldLimits): void {
    const { generation } = session;
    session.later(0, () => this.#tell(shop, { type: 'session.limits', generation, ...told }));
  }

  #showQr(shop: MemoryShop, session: MemorySession, turn: number): void {
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

  #showCode(shop: MemoryShop, session: MemorySession, phone: string): void {
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
  #closeSession(shop: MemoryShop): void {
    const { session } = shop;
    if (session === undefined) return;
    this.#endSession(shop);
    this.#clock.after(0, () => session.settleOrders('unknown'));
  }

  #end(shop: MemoryShop, end: SessionEnd, statusCode: number | undefined): void {
    const { session } = shop;
    if (session === undefined) return;
    session.settleOrders('unknown');
    this.#endSession(shop);
    const { generation } = session;
    this.#counters.countEnd(end);
    this.#tell(shop, { type: 'session.closed', generation, end, statusCode, detail: end });
  }

  #endSession(shop: MemoryShop): void {
    const { session } = shop;
    shop.session = undefined;
    session?.end();
  }

  #tell({ address }: Pick<MemoryShop, 'address'>, event: SessionEvent): void {
    this.#listener(address, event);
  }
}

const NO_GROUPS: readonly SessionGroup[] = [];

/** One worker without a heap of its own, so that the metric of the workers' heaps has a series. */
const HEAP_BYTES: ReadonlyMap<number, number> = new Map([[0, 0]]);

/** The code by which a phone (digits) is paired in memory: its last digits. */
const memoryCode = (phone: string): string => phone.padStart(8, '0').slice(-8);
