import type { proto } from '@whiskeysockets/baileys';
import type { SendOutcome } from '../../session-events.ts';
import { isRateSignal } from '../shared/session-end.ts';
import { chatAddress, isLidAddress } from '../wire/chat-address.ts';
import { statusAudience, wireIdAfter } from '../wire/wire-form.ts';
import type { ClientLock } from './client-lock.ts';
import { renewLid } from './number-lookup.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { PendingOrder } from './pending-order.ts';
import type { PendingOrders } from './pending-orders.ts';
import type { PostDevices } from './post-devices.ts';

/** The code of a refusal when the recipient has no valid address. */
const REFRESH_LID = 'refresh_lid';
/** The ack error of a post that names members by the wrong kind of address (nanocoai/nanoclaw, pull 2688). */
export const STALE_GROUP = '421';

/** The parts of an outbox that a second attempt uses. */
interface SendAgainParts {
  readonly orders: PendingOrders;
  readonly clientLock: ClientLock;
  readonly postDevices: PostDevices;
}

/**
 * Sends a message again that reached no one, or that was not acknowledged before its connection was lost. It happens
 * once for each order.
 */
export class SendAgain {
  readonly #options: OutboxOptions;
  readonly #parts: SendAgainParts;

  constructor(options: OutboxOptions, parts: SendAgainParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** The connection was lost before the acknowledgement. The stanza goes out under the same id. */
  repeat(pendingOrder: PendingOrder): Promise<void> {
    const { order, isPost, stanza } = pendingOrder;
    const { socket, groups } = this.#options;
    return this.#send(pendingOrder, 'repeated', async () => {
      if (order.kind === 'status') return statusAudience(socket, order);
      return isPost ? groups.participants(stanza.chat) : [stanza.chat];
    });
  }

  /** The network took the stanza and delivered it to no one: its address is no longer the recipient's. */
  readdress(pendingOrder: PendingOrder): Promise<void> {
    const { order, stanza } = pendingOrder;
    const { context, socket, sentMessages, readdressedIds } = this.#options;
    return this.#send(pendingOrder, REFRESH_LID, async (message) => {
      const number = chatAddress(stanza.to);
      if (isLidAddress(number)) return [];
      const former = stanza.chat;
      const renewedLid = await renewLid({ socket, memory: context.memory, number, former });
      if (renewedLid === undefined) return [];
      const wireId = wireIdAfter(order.wireId);
      pendingOrder.readdress(renewedLid, wireId);
      // Both changes go into one write.
      void readdressedIds.set(wireId, order.wireId);
      await sentMessages.remember(wireId, { chat: renewedLid, message });
      return [renewedLid];
    });
  }

  /** The network refused a post because it names the members by the wrong kind of address. */
  renewGroup(pendingOrder: PendingOrder): Promise<void> {
    const { groups } = this.#options;
    const { chat } = pendingOrder.stanza;
    return this.#send(pendingOrder, STALE_GROUP, async () => {
      await this.#parts.orders.forgetWhoHasKey(pendingOrder);
      this.#parts.postDevices.forget(chat);
      await groups.request(chat);
      return groups.participants(chat);
    });
  }

  /**
   * Sends the message again, to the recipients that `prepare` returns. The order ends by `outcomeBefore` if there is no
   * recipient, or the message was sent again before. It also does so if the shop's actor no longer allows the message,
   * or on a failure before a ciphertext is passed on. A rate signal is reported as such, except for a repeat. The steps
   * of its ratchets are stored before it leaves.
   */
  async #send(
    pendingOrder: PendingOrder,
    code: string,
    prepare: (message: proto.IMessage) => Promise<readonly string[]>,
  ): Promise<void> {
    const { socket, sessions } = this.#options;
    const { order, stanza } = pendingOrder;
    const { message } = stanza;
    const isFirst = pendingOrder.sendAgain();
    try {
      const people = isFirst && message !== undefined ? await prepare(message) : [];
      const isReachable = people.length > 0 && (await sessions.reach(people));
      if (message === undefined || !isReachable || !(await this.#mayLeave(pendingOrder))) {
        this.#parts.orders.settle(pendingOrder, outcomeBefore(pendingOrder, code));
        return;
      }
      await this.#parts.clientLock.give(pendingOrder, () => {
        if (!this.#parts.orders.has(pendingOrder)) return undefined;
        const form = this.#parts.postDevices.formOf(pendingOrder, order.kind === 'status' ? people : []);
        return socket.relayMessage(pendingOrder.stanza.chat, message, form);
      });
    } catch (error) {
      const { isRepeat, hasReachedNoOne } = pendingOrder;
      // A rate signal concerns the number, and puts the message back into the queue.
      const isKnown = isRepeat || (hasReachedNoOne && !isRateSignal(error));
      this.#parts.orders.fail(pendingOrder, error, isKnown ? outcomeBefore(pendingOrder, code) : undefined);
    }
  }

  /** Asks the shop's actor, which may know a STOP, a recall or a restriction since the message was transmitted. */
  async #mayLeave(pendingOrder: PendingOrder): Promise<boolean> {
    const { preparation, isToPerson, lid, stanza } = pendingOrder;
    const { context, tokens } = this.#options;
    const hasChat = isToPerson ? await tokens.has(stanza.chat) : undefined;
    if (pendingOrder.isStopped || !this.#parts.orders.has(pendingOrder)) return false;
    const decision = pendingOrder.decision();
    context.prepared(preparation, { lid, hasChat, changes: [] });
    return decision;
  }
}

/** Returns the outcome of an order whose second stanza does not leave. */
function outcomeBefore({ isRepeat }: PendingOrder, code: string): SendOutcome {
  return isRepeat ? { kind: 'unknown' } : { kind: 'refused', code };
}
