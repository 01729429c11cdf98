import type { proto } from '@whiskeysockets/baileys';
import { chatAddress, isGroupAddress, isLidAddress } from '../wire/chat-address.ts';
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
 * Sends a message once more that reached no one, or that was not acknowledged before its connection was lost. It happens
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
  repeat(pending: PendingOrder): Promise<void> {
    const { order, chat } = pending;
    const { socket, groups } = this.#options;
    return this.#send(pending, 'repeated', async () => {
      if (order.kind === 'status') return statusAudience(socket, order);
      return isGroupAddress(chat) ? groups.participants(chat) : [chat];
    });
  }

  /** The network took the stanza and delivered it to no one: its address is no longer the recipient's. */
  readdress(pending: PendingOrder): Promise<void> {
    const { order, to, chat } = pending;
    const { socket, memory, sent, readdressed } = this.#options;
    return this.#send(pending, REFRESH_LID, async (message) => {
      const number = chatAddress(to);
      if (isLidAddress(number)) return [];
      const renewed = await renewLid({ socket, memory, number, former: chat });
      if (renewed === undefined) return [];
      pending.chat = renewed;
      pending.wireId = wireIdAfter(order.wireId);
      // Both changes go into one write.
      void readdressed.set(pending.wireId, order.wireId);
      await sent.remember(pending.wireId, { chat: renewed, message });
      return [renewed];
    });
  }

  /** The network refused a post because it names the members by the wrong kind of address. */
  renewGroup(pending: PendingOrder): Promise<void> {
    const { groups } = this.#options;
    return this.#send(pending, STALE_GROUP, async () => {
      await this.#parts.orders.forgetWhoHasKey(pending);
      this.#parts.postDevices.forget(pending.chat);
      await groups.request(pending.chat);
      return groups.participants(pending.chat);
    });
  }

  /**
   * Sends the message for the recipients that `prepare` returns. It is refused with the code if there are none, or
   * after an earlier second attempt. It is also refused if the shop's actor no longer allows it. The steps of its
   * ratchets are stored before it leaves.
   */
  async #send(
    pending: PendingOrder,
    code: string,
    prepare: (message: proto.IMessage) => Promise<readonly string[]>,
  ): Promise<void> {
    const { socket, sessions } = this.#options;
    const { order, message } = pending;
    const isFirst = !pending.wasSentAgain;
    pending.wasSentAgain = true;
    try {
      const people = isFirst && message !== undefined ? await prepare(message) : [];
      const isReachable = people.length > 0 && (await sessions.reach(people));
      if (message === undefined || !isReachable || !(await this.#mayLeave(pending))) {
        this.#parts.orders.settle(
          pending,
          pending.isRepeat ? { kind: 'unknown' } : { kind: 'refused', code },
        );
        return;
      }
      await this.#parts.clientLock.give(pending, () => {
        if (!this.#parts.orders.has(pending)) return undefined;
        pending.isRelayed = false;
        const form = this.#parts.postDevices.formOf(pending, order.kind === 'status' ? people : []);
        return socket.relayMessage(pending.chat, message, form);
      });
    } catch (error) {
      this.#parts.orders.fail(pending, error, pending.isRepeat ? { kind: 'unknown' } : undefined);
    }
  }

  /** Asks the shop's actor, which may know a STOP, a recall or a restriction since the message was transmitted. */
  async #mayLeave(pending: PendingOrder): Promise<boolean> {
    const { asked, order, chat } = pending;
    const { tokens, prepared } = this.#options;
    const isPerson = order.kind === 'message' && !isGroupAddress(chat);
    const hasChat = isPerson ? await tokens.has(chat) : undefined;
    if (pending.isWithheld || !this.#parts.orders.has(pending)) return false;
    const lid = isLidAddress(chat) ? chat : undefined;
    return new Promise((resolve) => {
      pending.decide = resolve;
      prepared({ attempt: asked.attempt, messageId: order.messageId, lid, hasChat, changes: [] });
    });
  }
}
