import type { SendOutcome } from '../../session-events.ts';
import { describeDefect } from '../shared/defect.ts';
import { isGroupAddress } from '../wire/chat-address.ts';
import type { ClientLock } from './client-lock.ts';
import { forgetKeyHolders } from './group-members.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { isDefect, outcomeOf, overdueOutcome, type PendingOrder } from './pending-order.ts';

/** A session's orders without an outcome, by their wire ids. Each ends with one outcome, or is dropped. */
export class PendingOrders {
  readonly #options: OutboxOptions;
  readonly #clientLock: ClientLock;
  readonly #orders = new Map<string, PendingOrder>();

  constructor(options: OutboxOptions, clientLock: ClientLock) {
    this.#options = options;
    this.#clientLock = clientLock;
  }

  /** Adds an order, with the deadline of its first phase. */
  add(beginning: Omit<PendingOrder, 'deadline'>, mostMs: number): PendingOrder {
    const deadline = this.#options.clock.after(mostMs, () => this.#overdue(pendingOrder));
    const pendingOrder: PendingOrder = { ...beginning, deadline };
    this.#orders.set(pendingOrder.order.wireId, pendingOrder);
    return pendingOrder;
  }

  /** Returns the order that was given with this wire id. */
  get(wireId: string): PendingOrder | undefined {
    return this.#orders.get(wireId);
  }

  /** Returns the order whose newest stanza has this wire id. */
  ofStanza(wireId: string): PendingOrder | undefined {
    return this.all().find((pendingOrder) => pendingOrder.wireId === wireId);
  }

  ofMessage(messageId: string): readonly PendingOrder[] {
    return this.all().filter(({ order }) => order.messageId === messageId);
  }

  all(): readonly PendingOrder[] {
    return [...this.#orders.values()];
  }

  /** An order that was given up may be given again under the same wire id. The first attempt then no longer counts. */
  has(pendingOrder: PendingOrder): boolean {
    return this.#orders.get(pendingOrder.order.wireId) === pendingOrder;
  }

  /** Sets the deadline for the next phase of an order. */
  bound(pendingOrder: PendingOrder, mostMs: number): void {
    pendingOrder.deadline.cancel();
    pendingOrder.deadline = this.#options.clock.after(mostMs, () => this.#overdue(pendingOrder));
  }

  #overdue(pendingOrder: PendingOrder): void {
    const { phase, isRelayed } = pendingOrder;
    const isStuck = phase === 'relaying' || phase === 'ready' || (phase === 'transmitting' && !isRelayed);
    if (phase === 'transmitting' && !isStuck) this.#options.onUnanswered();
    this.settle(pendingOrder, overdueOutcome(phase));
    // The order is settled first, because it is the reason for which the session ends.
    if (isStuck) this.#options.stalled('a send did not come to an end in time');
  }

  /** Ends an order and reports its outcome. Does nothing if it has one already. */
  settle(pendingOrder: PendingOrder, outcome: SendOutcome): void {
    if (!this.has(pendingOrder)) return;
    const isPost = isGroupAddress(pendingOrder.chat) && pendingOrder.phase === 'transmitting';
    if (isPost && outcome.kind !== 'acknowledged') void this.forgetWhoHasKey(pendingOrder);
    this.drop(pendingOrder);
    this.#options.report(pendingOrder.prepareOrder, outcome);
  }

  /** Ends an order by an error. The outcome does not tell a defect, so that is logged. */
  fail(pendingOrder: PendingOrder, error: unknown, outcome = outcomeOf(pendingOrder, error)): void {
    const isWaiting = this.has(pendingOrder);
    this.settle(pendingOrder, outcome);
    if (!isWaiting || !isDefect(error)) return;
    const { messageId } = pendingOrder.order;
    this.#options.logError({ messageId, ...describeDefect(error) }, 'a send failed by a defect');
  }

  /** The next post in the group sends its key to all members, because it is unknown who got this one. */
  async forgetWhoHasKey({ chat, isRelayed }: PendingOrder): Promise<void> {
    if (!isRelayed) await this.#clientLock.ended;
    await forgetKeyHolders(this.#options.credentials.keys, chat);
  }

  /** Ends an order without a report. */
  drop(pendingOrder: PendingOrder): void {
    this.#orders.delete(pendingOrder.order.wireId);
    pendingOrder.deadline.cancel();
    pendingOrder.decide?.(false);
    this.#clientLock.bound(pendingOrder);
    pendingOrder.cancel?.abort();
    pendingOrder.release();
    // Not left to the client: if it cannot write its copy of the file, its call never returns.
    void pendingOrder.media?.discard();
  }
}
