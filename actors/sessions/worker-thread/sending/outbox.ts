import type { proto, SignalDataSet } from '@whiskeysockets/baileys';
import { sleep } from '../../../../runtime/clock.ts';
import type { FairSlots } from '../../../../runtime/fair-slots.ts';
import type { SendOutcome } from '../../session-events.ts';
import type { Preparation } from '../../worker-protocol.ts';
import type { UnacknowledgedOrder } from '../shared/unacknowledged.ts';
import { STATUS_CHAT } from '../wire/chat-address.ts';
import { statusAudience } from '../wire/wire-form.ts';
import { isAddressable } from './addressable.ts';
import { ClientLock } from './client-lock.ts';
import { makeMessage } from './make-message.ts';
import { OrderGivenUp, outcomeOf } from './order-outcomes.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { PendingOrder } from './pending-order.ts';
import { PendingOrders } from './pending-orders.ts';
import { PostDevices } from './post-devices.ts';
import { chatOf, recipientOf, showComposing } from './recipients.ts';
import { SendAgain, STALE_GROUP } from './send-again.ts';

/** The ack error that is a rate signal. */
const RATE_ACK = '429';

/** A message and its chat. The message is undefined if the client made none. */
interface MadeMessage {
  readonly chat: string;
  readonly message: proto.IMessage | undefined;
}

/**
 * The orders of one session on their way to the wire. The client's `relayMessage` resolves once the bytes are in the
 * socket. So an order counts as sent only with the `ack` stanza of the network. Errors are read from that stanza, too.
 * The client reports them once more, later and in other forms: in `messages.update`, or merged into an upsert.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #postDevices: PostDevices;
  readonly #clientLock: ClientLock;
  readonly #orders: PendingOrders;
  readonly #again: SendAgain;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#postDevices = new PostDevices(options);
    this.#clientLock = new ClientLock(options.context);
    this.#orders = new PendingOrders(options, this.#clientLock);
    const parts = { orders: this.#orders, clientLock: this.#clientLock, postDevices: this.#postDevices };
    this.#again = new SendAgain(options, parts);
  }

  /** Starts an order. If it was given before, it replaces that one, unless the message may have left. */
  prepare(preparation: Preparation): void {
    const orderBefore = this.#orders.get(preparation.order.wireId);
    if (orderBefore?.phase === 'transmitting') return;
    if (orderBefore !== undefined) this.#orders.drop(orderBefore);
    void this.#run(this.#orders.add(new PendingOrder(preparation)));
  }

  /**
   * Sends a stanza once more, under the same id. The connection before was lost, and the network had not acknowledged
   * the stanza. It may have arrived all the same, so its outcome is `acknowledged` or `unknown`.
   */
  repeat({ preparation, wireId, to, chat, message }: UnacknowledgedOrder): void {
    const pendingOrder = this.#orders.add(new PendingOrder(preparation, { wireId, to, chat, message }));
    this.#orders.setDeadline(pendingOrder, preparation.order.deadlineMs);
    void this.#again.repeat(pendingOrder);
  }

  /** The message may leave, or leave once more. Does nothing for an order that did not report `prepared`. */
  transmit(messageId: string): void {
    for (const pendingOrder of this.#orders.ofMessage(messageId))
      if (pendingOrder.transmit()) this.#orders.setDeadline(pendingOrder, pendingOrder.order.deadlineMs);
  }

  /** True if the order of that stanza has no outcome yet. */
  isPending(wireId: string): boolean {
    return this.#orders.get(wireId) !== undefined || this.#orders.ofStanza(wireId) !== undefined;
  }

  /** Cancels an order that was not transmitted. Reports nothing but a rate signal that is still to come. */
  recall(messageId: string): void {
    for (const pendingOrder of this.#orders.ofMessage(messageId))
      if (pendingOrder.phase !== 'transmitting') this.#orders.drop(pendingOrder);
  }

  /** A transmitted message is not sent once more, for any reason. */
  doNotRepeat(messageId: string): void {
    for (const pendingOrder of this.#orders.ofMessage(messageId)) pendingOrder.withhold();
  }

  /** Ends the orders whose attachments are in work as `unprepared`. */
  returnAttachments(): void {
    for (const pendingOrder of this.#orders.all()) {
      if (pendingOrder.phase === 'fetching' || pendingOrder.phase === 'uploading')
        this.#orders.settle(pendingOrder, { kind: 'unprepared' });
    }
  }

  /**
   * Stores the steps of sealing. The ciphertexts are passed on once this has resolved. The shop's actor stores the
   * first steps of an order before it transmits. An order that was given up stores nothing, and its ciphertexts are
   * dropped. The write may also contain steps of another message that is sealed meanwhile. They are then stored earlier
   * than they must be.
   */
  async storeSealed(data: SignalDataSet): Promise<void> {
    const { context, credentials, sentMessages } = this.#options;
    const pendingOrder = this.#clientLock.order;
    if (
      pendingOrder === undefined ||
      (pendingOrder.phase === 'transmitting' && this.#orders.has(pendingOrder))
    ) {
      await credentials.keys.set(data);
      if (pendingOrder?.isStopped) throw new OrderGivenUp('the message may not be sent once more');
      pendingOrder?.passOn();
      return;
    }
    const { order, preparation, lid, stanza } = pendingOrder;
    const { chat, message, audience, hasChat } = stanza;
    if (!this.#orders.has(pendingOrder) || message === undefined)
      throw new OrderGivenUp('the order was given up');
    const decision = pendingOrder.ready();
    // It goes into the same write. If that fails it closes the sealed store, which reports it as the session's end.
    sentMessages.remember(order.wireId, { chat, message, audience }).catch(() => undefined);
    await credentials.carry(data, async (changes) => {
      if (this.#orders.has(pendingOrder)) context.prepared(preparation, { lid, hasChat, changes });
      if (!(await decision)) throw new OrderGivenUp('the order was given up');
    });
  }

  /** Runs work that seals something other than an order. All orders wait meanwhile. */
  alone(work: () => Promise<void>): Promise<void> {
    return this.#clientLock.runAlone(work);
  }

  /** The network's answer to a stanza. */
  onAcknowledged(attributes: { readonly [name: string]: string | undefined }): void {
    const pendingOrder = this.#orders.ofStanza(attributes.id ?? '');
    // Before `transmit` no ciphertext left: the acknowledged stanza addressed no device.
    if (pendingOrder === undefined || pendingOrder.phase !== 'transmitting') return;
    const { error, phash } = attributes;
    const { chat, devicesHash = phash } = pendingOrder.stanza;
    if (phash !== undefined && phash !== devicesHash) this.#postDevices.differ(chat);
    if (attributes.refresh_lid === 'true' && pendingOrder.isToPerson)
      void this.#again.readdress(pendingOrder);
    else if (error === STALE_GROUP && pendingOrder.isPost) void this.#again.renewGroup(pendingOrder);
    else if (error === undefined) this.#orders.settle(pendingOrder, { kind: 'acknowledged' });
    // The first stanza may have been accepted, for any reply to the second.
    else if (pendingOrder.isRepeat) this.#orders.settle(pendingOrder, { kind: 'unknown' });
    else if (error === RATE_ACK) this.#orders.settle(pendingOrder, { kind: 'rate_limited' });
    else this.#orders.settle(pendingOrder, { kind: 'refused', code: error });
  }

  /**
   * The socket has closed. `comesBack` is true if a connection may follow, which sends unacknowledged messages again. A
   * message that a recipient's device reported is `acknowledged` now, and so is not sent again.
   */
  onClosed({ comesBack }: { readonly comesBack: boolean }): void {
    const { isReceived } = this.#options;
    for (const pendingOrder of this.#orders.all()) {
      const mayHaveLeft = pendingOrder.phase === 'transmitting';
      if (comesBack && pendingOrder.mayBeRepeated && !isReceived(pendingOrder)) this.#keep(pendingOrder);
      else this.#orders.settle(pendingOrder, mayHaveLeft ? { kind: 'unknown' } : { kind: 'not_sent' });
    }
  }

  #keep(pendingOrder: PendingOrder): void {
    const { context } = this.#options;
    const { preparation, isPost, stanza } = pendingOrder;
    const { wireId, to, chat, message = {} } = stanza;
    if (isPost) void this.#orders.forgetWhoHasKey(pendingOrder);
    this.#orders.drop(pendingOrder);
    const end = (outcome: SendOutcome): void => context.report(preparation, outcome);
    context.memory.unacknowledged.keep({ preparation, wireId, to, chat, message, end });
  }

  async #run(pendingOrder: PendingOrder): Promise<void> {
    try {
      await this.#relay(pendingOrder);
    } catch (error) {
      const outcome = outcomeOf(pendingOrder.phase, error);
      if (this.#orders.has(pendingOrder)) this.#orders.fail(pendingOrder, error, outcome);
      // It concerns the number, for any outcome of the order.
      else if (outcome.kind === 'rate_limited')
        this.#options.context.report(pendingOrder.preparation, outcome);
    }
  }

  /**
   * Gives back the order's slot, if it has one, and waits for one of `slots`. Only the shop's actor limits that wait.
   * With the slot, the order has `mostMs` for its next phase. Rejects if the order ends while it waits. Resolves with
   * false if the order ended just as it got the slot.
   */
  async #begin(pendingOrder: PendingOrder, slots: FairSlots, mostMs: number): Promise<boolean> {
    pendingOrder.leaveSlot();
    pendingOrder.clearDeadline();
    const slot = await slots.take(this.#options.context.shop.tenantId, pendingOrder.ended);
    if (!this.#orders.has(pendingOrder)) {
      slot.giveBack();
      return false;
    }
    pendingOrder.begin(slot);
    this.#orders.setDeadline(pendingOrder, mostMs);
    return true;
  }

  async #relay(pendingOrder: PendingOrder): Promise<void> {
    const { order } = pendingOrder;
    const { socket, tokens } = this.#options;
    const hasAttachment = order.mediaUrl !== undefined;
    const made = await (hasAttachment ? this.#makeWithAttachment(pendingOrder) : this.#make(pendingOrder));
    if (made === undefined) return;
    const { chat, message } = made;
    const audience = await statusAudience(socket, order);
    if (message === undefined || !(await isAddressable(this.#options, pendingOrder, { chat, audience }))) {
      this.#orders.settle(pendingOrder, { kind: 'unprepared' });
      return;
    }
    const hasChat = pendingOrder.isToPerson ? await tokens.has(chat) : undefined;
    await this.#clientLock.give(pendingOrder, () => {
      if (!this.#orders.has(pendingOrder)) return undefined;
      pendingOrder.relay({ message, chat, audience, hasChat });
      this.#orders.setDeadline(pendingOrder, order.deadlineMs);
      return socket.relayMessage(chat, message, this.#postDevices.formOf(pendingOrder, audience));
    });
    // It resolved without an addressed device, though the devices were known a moment ago. A stanza for no device may
    // have left under this id, and the network would drop a second one with it. So the message is not tried again.
    if (pendingOrder.phase === 'relaying') this.#orders.settle(pendingOrder, { kind: 'unknown' });
  }

  /** Makes a message without an attachment. Resolves with undefined if the order does not continue. */
  async #make(pendingOrder: PendingOrder): Promise<MadeMessage | undefined> {
    const chat = await this.#announce(pendingOrder);
    if (chat === undefined) return undefined;
    this.#orders.setDeadline(pendingOrder, pendingOrder.order.deadlineMs);
    return { chat, message: await makeMessage(this.#options, pendingOrder, chat) };
  }

  /** Like `#make`, for a message with an attachment. */
  async #makeWithAttachment(pendingOrder: PendingOrder): Promise<MadeMessage | undefined> {
    const { order } = pendingOrder;
    const { clock, environment, timing } = this.#options.context;
    const { media, sendSlots } = environment;
    const attachmentUntilMs = clock.monotonicMs() + timing.attachmentBeginMs;
    // A status shows no composing, so it begins with its attachment.
    const chat = order.kind === 'status' ? STATUS_CHAT : await this.#announce(pendingOrder);
    if (chat === undefined) return undefined;
    // Slow servers of attachments delay no message without one, and none of another tenant.
    if (!(await this.#begin(pendingOrder, media.slots, timing.mediaMs + timing.uploadMs))) return undefined;
    // The shop's actor recalls it soon, so an order with more time left gets the slot.
    if (clock.monotonicMs() > attachmentUntilMs) {
      pendingOrder.leaveSlot();
      pendingOrder.clearDeadline();
      return undefined;
    }
    const message = await makeMessage(this.#options, pendingOrder, chat);
    if (!(await this.#begin(pendingOrder, sendSlots, order.deadlineMs))) return undefined;
    return { chat, message };
  }

  /**
   * Waits for a slot, looks the recipient up and shows composing. Resolves with the chat, or with undefined if the
   * order does not continue.
   */
  async #announce(pendingOrder: PendingOrder): Promise<string | undefined> {
    const { order, preparation } = pendingOrder;
    const { context, socket } = this.#options;
    const { environment, timing } = context;
    // The number is looked up, and its id for composing.
    const announcingMs = 2 * timing.queryMs + preparation.composingMs;
    if (!(await this.#begin(pendingOrder, environment.sendSlots, announcingMs))) return undefined;
    if (order.kind === 'status') return STATUS_CHAT;
    if (!pendingOrder.isPost) {
      const number = await recipientOf(this.#options, order);
      if (typeof number !== 'string') {
        this.#orders.settle(pendingOrder, number);
        return undefined;
      }
      if (!this.#orders.has(pendingOrder)) return undefined;
      pendingOrder.knownAs(number);
      const { messageId, knownAs = order.to } = order;
      if (number !== knownAs) context.emit({ type: 'session.recipient_known', messageId, number });
    }
    const { to } = pendingOrder.stanza;
    const chat = await showComposing(socket, to);
    await sleep(context.clock, preparation.composingMs);
    if (!this.#orders.has(pendingOrder)) return undefined;
    return chat ?? chatOf(socket, to);
  }
}
