import type { Clock } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../session-events.ts';
import type { SessionAddress, SessionOpening } from '../session-host.ts';

/** The state of a session, as its worker last reported it. */
type HostedState = 'opening' | 'qr' | 'code' | 'open' | 'ended';

/** An order that was given to the worker thread and has no outcome. There the order is a `PendingOrder`. */
interface GivenOrder {
  readonly messageId: string;
  readonly generation: number;
  /** Distinguishes reports: a recalled message may be prepared again while reports of its former attempt still come. */
  readonly attempt: number;
  /** True once the message may have reached the wire. */
  isTransmitted: boolean;
}

const NONE: readonly never[] = [];

/** An order that has its outcome now, with the generation of its session. */
export interface SettledOrder {
  readonly messageId: string;
  readonly generation: number;
  readonly outcome: SendOutcome;
}

/**
 * The main thread's record of one shop's session: its worker, its state, and the orders without an outcome. An order
 * that is not recalled is settled once: by the worker's report or, if the worker is gone without one, by `settleAll`.
 */
export class HostedSession {
  readonly shop: SessionAddress;
  /** Index of its worker in the pool. It is kept, so that a session returns to the worker with its caches. */
  worker: number | undefined;
  /** The options of its newest session. */
  opening: SessionOpening;
  /** True once the session was asked to end. Its reports still count, and the main thread answers its requests. */
  isClosing = false;
  readonly #clock: Clock;
  /** Orders without outcome. There is usually at most one, for which a map takes ten times the memory. */
  #orders: readonly GivenOrder[] = NONE;
  #attempts = 0;
  readonly #counts = { sent: 0, refused: 0, unknown: 0, received: 0 };
  /** Facts for operators from the notes of the shop's sessions, the newest by each name. */
  #shown: Readonly<Record<string, unknown>> = {};
  #state: HostedState = 'opening';
  #stateSinceMs: number;

  constructor(shop: SessionAddress, opening: SessionOpening, clock: Clock) {
    this.shop = shop;
    this.opening = opening;
    this.#clock = clock;
    this.#stateSinceMs = clock.wallMs();
  }

  get generation(): number {
    return this.opening.generation;
  }

  get state(): HostedState {
    return this.#state;
  }

  enter(state: HostedState): void {
    this.#state = state;
    this.#stateSinceMs = this.#clock.wallMs();
  }

  countReceived(): void {
    this.#counts.received += 1;
  }

  /** Shows operators these facts from now on. */
  show(facts: Readonly<Record<string, unknown>>): void {
    this.#shown = { ...this.#shown, ...facts };
  }

  /**
   * Takes an order that goes to the worker, and returns the number of its attempt. Returns undefined if it was
   * transmitted before and has no outcome.
   */
  take(messageId: string): number | undefined {
    if (this.#order(messageId)?.isTransmitted) return undefined;
    this.recall(messageId);
    this.#attempts += 1;
    const { generation } = this;
    this.#orders = [
      ...this.#orders,
      { messageId, generation, attempt: this.#attempts, isTransmitted: false },
    ];
    return this.#attempts;
  }

  #order(messageId: string): GivenOrder | undefined {
    return this.#orders.find((order) => order.messageId === messageId);
  }

  /** True if that attempt was not given up, and has no outcome. */
  isOpen(messageId: string, attempt: number): boolean {
    return this.#order(messageId)?.attempt === attempt;
  }

  /** Removes an order that was not transmitted. Returns false if there is none. */
  recall(messageId: string): boolean {
    if (this.#order(messageId)?.isTransmitted !== false) return false;
    this.#remove(messageId);
    return true;
  }

  #remove(messageId: string): void {
    const otherOrders = this.#orders.filter((order) => order.messageId !== messageId);
    this.#orders = otherOrders.length === 0 ? NONE : otherOrders;
  }

  /** Notes that the message may reach the network from now on. Returns false if the order has its outcome already. */
  transmit(messageId: string): boolean {
    const order = this.#order(messageId);
    if (order !== undefined) order.isTransmitted = true;
    return order !== undefined;
  }

  /** Removes an order that has its outcome. */
  settle(messageId: string, outcome: SendOutcome): void {
    this.#remove(messageId);
    if (outcome.kind === 'acknowledged') this.#counts.sent += 1;
    else if (outcome.kind === 'unknown' || outcome.kind === 'restarted') this.#counts.unknown += 1;
    else if (outcome.kind === 'refused') this.#counts.refused += 1;
  }

  /**
   * Settles all orders, because the worker has exited. An order that was not transmitted may be given to another one.
   */
  settleAll(): SettledOrder[] {
    return this.#orders.map(({ messageId, isTransmitted, generation }) => {
      const outcome: SendOutcome = { kind: isTransmitted ? 'restarted' : 'unprepared' };
      this.settle(messageId, outcome);
      return { messageId, generation, outcome };
    });
  }

  /** Returns facts for operators; no secrets. */
  describe(): Record<string, unknown> {
    return {
      worker: this.worker ?? null,
      generation: this.generation,
      state: this.#state,
      stateSince: new Date(this.#stateSinceMs).toISOString(),
      pendingOrders: this.#orders.length,
      ...this.#counts,
      ...this.#shown,
    };
  }
}

/**
 * Returns the worker for a session: its last one, or else the one with the fewest sessions. Undefined if none is ready.
 */
export function workerFor(
  session: HostedSession,
  sessions: Iterable<HostedSession>,
  readyWorkers: readonly number[],
): number | undefined {
  if (session.worker !== undefined && readyWorkers.includes(session.worker)) return session.worker;
  if (readyWorkers.length <= 1) return readyWorkers[0];
  const load = new Map<number, number>(readyWorkers.map((worker) => [worker, 0]));
  for (const { worker } of sessions) {
    if (worker !== undefined && load.has(worker)) load.set(worker, (load.get(worker) ?? 0) + 1);
  }
  const [leastLoaded] = [...load].sort(([, left], [, right]) => left - right);
  return leastLoaded?.[0];
}
