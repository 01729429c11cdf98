import type { SendOutcome, SessionEvent } from '../../../actors/sessions/session-events.ts';
import type { SendOrder } from '../../../actors/sessions/session-host.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { MemoryBehaviour } from './memory-behaviour.ts';
import type { MemorySession } from './memory-session.ts';
import type { MemoryShop } from './memory-shop.ts';

/** The network that messages are sent to. */
interface MemoryNetwork {
  readonly clock: Clock;
  readonly behaviour: () => MemoryBehaviour;
  readonly tell: (shop: MemoryShop, event: SessionEvent) => void;
}

/** Messages on their way through the network in memory. */
export class MemorySends {
  readonly #network: MemoryNetwork;

  constructor(network: MemoryNetwork) {
    this.#network = network;
  }

  /** Looks the recipient up and shows composing, then reports that the message is prepared. */
  prepare(shop: MemoryShop, order: SendOrder): void {
    const { session } = shop;
    const { messageId } = order;
    if (session?.state !== 'open') {
      const generation = session?.generation ?? 0;
      const outcome = { kind: 'not_sent' } as const;
      this.#network.clock.after(0, () =>
        this.#network.tell(shop, { type: 'session.send_outcome', generation, messageId, outcome }),
      );
      return;
    }
    session.hold(order);
    const { checkMs, composeMs } = this.#network.behaviour();
    const isPerson = order.to.startsWith('+');
    const prepared = (): void => {
      if (session.held(messageId) !== order) return;
      const chat = isPerson ? { hasChat: shop.writers.has(order.to) } : {};
      const { generation } = session;
      this.#network.tell(shop, { type: 'session.prepared', generation, messageId, writes: [], ...chat });
    };
    const lookedUp = (): void => {
      if (session.held(messageId) !== order) return;
      if (isPerson && !this.#lookUp(shop, session, order)) return;
      this.#network.clock.after(order.kind === 'status' ? 0 : composeMs, prepared);
    };
    if (isPerson) this.#network.clock.after(checkMs, lookedUp);
    else lookedUp();
  }

  /** False: the message goes no further. */
  #lookUp(
    shop: MemoryShop,
    session: MemorySession,
    { messageId, to, knownAs, needsChat }: SendOrder,
  ): boolean {
    const exists = needsChat && !shop.writers.has(to) ? 'no_chat' : this.#network.behaviour().exists(to);
    if (exists !== true) {
      const kinds = { silent: 'not_sent', rate_limited: 'rate_limited', no_chat: 'no_chat' } as const;
      session.giveUp(messageId, { kind: exists === false ? 'not_on_network' : kinds[exists] });
      return false;
    }
    const number = this.#network.behaviour().knownAs(to);
    const { generation } = session;
    if (number !== (knownAs ?? to))
      this.#network.tell(shop, { type: 'session.recipient_known', generation, messageId, number });
    return true;
  }

  /** The message leaves, and comes to what the network says. */
  transmit(shop: MemoryShop, messageId: string): void {
    const { session } = shop;
    const order = session?.held(messageId);
    if (session === undefined || order === undefined) return;
    const { remembered } = this.#network.behaviour();
    if (remembered > 0) shop.sent.push(order);
    if (shop.sent.length > remembered) shop.sent.shift();
    const wanted = this.#network.behaviour().outcome(order);
    const outcome: SendOutcome = wanted === 'silent' ? { kind: 'unknown' } : wanted;
    session.take(order, outcome, wanted === 'silent' ? order.deadlineMs : this.#network.behaviour().sendMs);
  }
}
