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
    const deadline = this.#options.clock.after(mostMs, () => this.#overdue(pending));
    const pending: PendingOrder = { ...beginning, deadline };
    this.#orders.set(pending.order.wireId, pending);
    return pending;
  }

  /** Returns the order that was given with this wire id. */
  get(wireId: string): PendingOrder | undefined {
    return this.#orders.get(wireId);
  }

  /** Returns the order whose newest stanza has this wire id. */
  ofStanza(wireId: string): PendingOrder | undefined {
    return this.all().find((pending) => pending.wireId === wireId);
  }

  ofMessage(messageId: string): readonly PendingOrder[] {
    return this.all().filter(({ order }) => order.messageId === messageId);
  }

  all(): readonly PendingOrder[] {
    return [...this.#orders.values()];
  }

  /** An order that was given up may be given again under the same wire id. The first attempt then no longer counts. */
  has(pending: PendingOrder): boolean {
    return this.#orders.get(pending.order.wireId) === pending;
  }

  /** Sets the deadline for the next phase of an order. */
  bound(pending: PendingOrder, mostMs: number): void {
    pending.deadline.cancel();
    pending.deadline = this.#options.clock.after(mostMs, () => this.#overdue(pending));
  }

  #overdue(pending: PendingOrder): void {
    const { phase, isRelayed } = pending;
    const isStuck = phase === 'relaying' || phase === 'ready' || (phase === 'transmitting' && !isRelayed);
    if (phase === 'transmitting' && !isStuck) this.#options.unanswered();
    this.settle(pending, overdueOutcome(phase));
    // The order is settled first, because it is the reason for which the session ends.
    if (isStuck) this.#options.stalled('a send did not come to an end in time');
  }

  /** Ends an order and reports its outcome. Does nothing if it has one already. */
  settle(pending: PendingOrder, outcome: SendOutcome): void {
    if (!this.has(pending)) return;
    const isPost = isGroupAddress(pending.chat) && pending.phase === 'transmitting';
    if (isPost && outcome.kind !== 'acknowledged') void this.forgetWhoHasKey(pending);
    this.drop(pending);
    this.#options.report(pending.asked, outcome);
  }

  /** Ends an order by an error. The outcome does not tell a defect, so that is logged. */
  fail(pending: PendingOrder, error: unknown, outcome = outcomeOf(pending, error)): void {
    const isWaiting = this.has(pending);
    this.settle(pending, outcome);
    if (!isWaiting || !isDefect(error)) return;
    const { messageId } = pending.order;
    this.#options.logError({ messageId, ...describeDefect(error) }, 'a send failed by a defect');
  }

  /** The next post in the group sends its key to all members, because it is unknown who got this one. */
  async forgetWhoHasKey({ chat, isRelayed }: PendingOrder): Promise<void> {
    if (!isRelayed) await this.#clientLock.ended;
    await forgetKeyHolders(this.#options.credentials.keys, chat);
  }

  /** Ends an order without a report. */
  drop(pending: PendingOrder): void {
    this.#orders.delete(pending.order.wireId);
    pending.deadline.cancel();
    pending.decide?.(false);
    this.#clientLock.bound(pending);
    pending.cancel?.abort();
    pending.release();
    // Not left to the client: if it cannot write its copy of the file, its call never returns.
    void pending.media?.discard();
  }
}
