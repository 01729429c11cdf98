import type { SendOutcome } from '../../session-events.ts';
import { describeDefect } from '../shared/defect.ts';
import type { ClientLock } from './client-lock.ts';
import { forgetKeyHolders } from './group-members.ts';
import { isDefect, outcomeOf, overdueOutcome } from './order-outcomes.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { PendingOrder } from './pending-order.ts';

/** A session's orders without an outcome, by their wire ids. Each ends with one outcome, or is dropped. */
export class PendingOrders {
  readonly #options: OutboxOptions;
  readonly #clientLock: ClientLock;
  readonly #orders = new Map<string, PendingOrder>();

  constructor(options: OutboxOptions, clientLock: ClientLock) {
    this.#options = options;
    this.#clientLock = clientLock;
  }

  /** Adds an order. It has no deadline yet. */
  add(pendingOrder: PendingOrder): PendingOrder {
    this.#orders.set(pendingOrder.order.wireId, pendingOrder);
    return pendingOrder;
  }

  /** Returns the order that was given with this wire id. */
  get(wireId: string): PendingOrder | undefined {
    return this.#orders.get(wireId);
  }

  /** Returns the order whose newest stanza has this wire id. */
  ofStanza(wireId: string): PendingOrder | undefined {
    return this.all().find(({ stanza }) => stanza.wireId === wireId);
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
  setDeadline(pendingOrder: PendingOrder, mostMs: number): void {
    pendingOrder.setDeadline(this.#options.context.clock.after(mostMs, () => this.#overdue(pendingOrder)));
  }

  #overdue(pendingOrder: PendingOrder): void {
    const { phase } = pendingOrder;
    const isStuck = this.#hasClient(pendingOrder);
    if (phase === 'transmitting' && !isStuck) this.#options.onUnanswered();
    this.settle(pendingOrder, overdueOutcome(phase));
    // The order is settled first, because it is the reason for which the session ends.
    if (isStuck) this.#options.context.end('transient', 'a send did not come to an end in time');
  }

  /** True if the client is not done with an order. After that only the acknowledgement is missing. */
  #hasClient(pendingOrder: PendingOrder): boolean {
    return this.#clientLock.order === pendingOrder;
  }

  /**
   * Ends an order and reports its outcome. Does nothing if it has one already. An unknown outcome is `acknowledged` if
   * a recipient's device reported the message.
   */
  settle(pendingOrder: PendingOrder, outcome: SendOutcome): void {
    if (!this.has(pendingOrder)) return;
    const hasLeft = pendingOrder.phase === 'transmitting' && outcome.kind !== 'acknowledged';
    if (pendingOrder.isPost && hasLeft) void this.forgetWhoHasKey(pendingOrder);
    this.drop(pendingOrder);
    const { context, isReceived } = this.#options;
    const isProven = outcome.kind === 'unknown' && isReceived(pendingOrder);
    context.report(pendingOrder.preparation, isProven ? { kind: 'acknowledged' } : outcome);
  }

  /** Ends an order by an error. The outcome does not tell a defect, so that is logged. */
  fail(pendingOrder: PendingOrder, error: unknown, outcome = outcomeOf(pendingOrder.phase, error)): void {
    const isWaiting = this.has(pendingOrder);
    this.settle(pendingOrder, outcome);
    if (!isWaiting || !isDefect(error)) return;
    const { messageId } = pendingOrder.order;
    const fields = { messageId, ...describeDefect(error) };
    this.#options.context.log(fields, 'a send failed by a defect', 'error');
  }

  /** The next post in the group sends its key to all members, because it is unknown who got this one. */
  async forgetWhoHasKey(pendingOrder: PendingOrder): Promise<void> {
    if (this.#hasClient(pendingOrder)) await this.#clientLock.ended;
    await forgetKeyHolders(this.#options.credentials.keys, pendingOrder.stanza.chat);
  }

  /** Ends an order without a report. */
  drop(pendingOrder: PendingOrder): void {
    this.#orders.delete(pendingOrder.order.wireId);
    pendingOrder.end();
    this.#clientLock.bound(pendingOrder);
  }
}
