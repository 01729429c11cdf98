import type { proto } from '@whiskeysockets/baileys';
import type { ArmedTimer, Clock } from '../../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SendOutcome } from '../../session-events.ts';
import type { Preparation } from '../../worker-protocol.ts';

/** How long after a lost connection a stanza may be sent again, in milliseconds. After that its outcome is unknown. */
const KEPT_MS = MINUTE_MS;

/** An order whose stanza left on a connection that was lost before the network acknowledged it. */
export interface UnacknowledgedOrder {
  readonly preparation: Preparation;
  /** The id that the stanza left with. */
  readonly wireId: string;
  /** The number by which the network knows the recipient, a group, or the network's own id of a person. */
  readonly to: string;
  readonly chat: string;
  readonly message: proto.IMessage;
  /** Reports its outcome, if it is not sent again. */
  readonly end: (outcome: SendOutcome) => void;
}

/**
 * A shop's orders between two of its connections. An order that was not acknowledged when the connection was lost is
 * sent again by the next connection, under the same id. The network and phones show one id once (whatsmeow
 * `retryFrame`). Nothing is kept longer than a minute, nor beyond the process.
 */
export class UnacknowledgedOrders {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #kept = new Map<string, { readonly order: UnacknowledgedOrder; readonly timer: ArmedTimer }>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  keep(order: UnacknowledgedOrder): void {
    const { messageId } = order.preparation.order;
    const timer = this.#clock.after(KEPT_MS, () => this.drop(messageId));
    this.#kept.set(messageId, { order, timer });
  }

  /** True for the id that the stanza left with, and for the one that its order was given with. */
  isKept(wireId: string): boolean {
    return [...this.#kept.values()].some(({ order }) =>
      [order.wireId, order.preparation.order.wireId].includes(wireId),
    );
  }

  /** Returns and removes all stored orders. */
  take(): UnacknowledgedOrder[] {
    const takenOrders = [...this.#kept.values()];
    this.#kept.clear();
    for (const { timer } of takenOrders) timer.cancel();
    return takenOrders.map(({ order }) => order);
  }

  /** Ends the order of that message as unknown, because it may have left: it is not sent again. */
  drop(messageId: string): void {
    this.#end(messageId, { kind: 'unknown' });
  }

  /** Ends those that a recipient's device reported: the network has them, so they are not sent again. */
  endReceived(isReceived: (order: UnacknowledgedOrder) => boolean): void {
    for (const [messageId, { order }] of [...this.#kept])
      if (isReceived(order)) this.#end(messageId, { kind: 'acknowledged' });
  }

  /** Ends all orders as unknown, because no connection follows. */
  giveUp(): void {
    for (const { end } of this.take()) end({ kind: 'unknown' });
  }

  #end(messageId: string, outcome: SendOutcome): void {
    const keptOrder = this.#kept.get(messageId);
    this.#kept.delete(messageId);
    keptOrder?.timer.cancel();
    keptOrder?.order.end(outcome);
  }
}
