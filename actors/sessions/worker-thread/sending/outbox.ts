import type { MessageRelayOptions, proto, SignalDataSet } from '@whiskeysockets/baileys';
import type { SendOutcome } from '../../session-host.ts';
import type { Unacknowledged } from '../session/unacknowledged.ts';
import { chatAddress, isGroupAddress, isLidAddress, STATUS_CHAT } from '../wire/chat-address.ts';
import { statusAudience, wireForm, wireIdAfter } from '../wire/wire-form.ts';
import { isAddressable } from './addressable.ts';
import { ClientTurn } from './client-turn.ts';
import { forgetKeyHolders } from './group-members.ts';
import { makeMessage } from './make-message.ts';
import { renewLid } from './number-lookup.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { beginningOf, outcomeOf, overdueOutcome, type Pending, type PrepareOrder } from './pending-order.ts';
import { PostDevices } from './post-devices.ts';
import { chatOf, recipientOf, showComposing } from './recipients.ts';

/** The ack error that is a rate signal. */
const RATE_ACK = '429';
/** The ack error of a post that names members by the wrong kind of address (nanocoai/nanoclaw, pull 2688). */
const STALE_GROUP = '421';
/** The code of a refusal when the recipient has no valid address. */
const REFRESH_LID = 'refresh_lid';

/**
 * The orders of one session on their way to the wire. `sendMessage` of the client resolves when bytes reached the
 * socket, so an order counts as sent on the network's own `ack` alone. Errors are read from that same node too: the
 * client's `messages.update`, and what it merges into an upsert, only repeat it later.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #postDevices: PostDevices;
  readonly #pending = new Map<string, Pending>();
  readonly #turn: ClientTurn;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#postDevices = new PostDevices(options);
    this.#turn = new ClientTurn(options);
  }

  /** An order that is given once more replaces the one before, unless that may have left. */
  prepare(asked: PrepareOrder): void {
    const { order, composingMs } = asked;
    const before = this.#pending.get(order.wireId);
    if (before?.phase === 'transmitting') return;
    if (before !== undefined) this.#drop(before);
    // The number is looked up, and its id for composing.
    const announcingMs = 2 * this.#options.timing.queryMs + composingMs;
    const pending: Pending = {
      ...beginningOf(asked),
      deadline: this.#options.clock.after(announcingMs, () => this.#overdue(pending)),
    };
    this.#pending.set(order.wireId, pending);
    void this.#run(pending);
  }

  /**
   * Puts a stanza that was not acknowledged before its connection was lost on the wire once more, under the same id. It may
   * have arrived, so its outcome is that it was acknowledged, or unknown.
   */
  repeat({ asked, wireId, to, chat, message }: Unacknowledged): void {
    const { order } = asked;
    const pending: Pending = {
      ...beginningOf(asked),
      wireId,
      isRepeat: true,
      to,
      phase: 'transmitting',
      message,
      chat,
      relayed: true,
      deadline: this.#options.clock.after(order.deadlineMs, () => this.#overdue(pending)),
    };
    this.#pending.set(order.wireId, pending);
    void this.#sendAgain(pending, 'repeated', async () => {
      const { socket, groups } = this.#options;
      if (order.kind === 'status') return statusAudience(socket, order.audience ?? []);
      return isGroupAddress(chat) ? groups.participants(chat) : [chat];
    });
  }

  /** The prepared message is stored, and may leave. Does nothing for an order that is not ready. */
  transmit(messageId: string): void {
    for (const pending of this.#pending.values()) {
      if (pending.order.messageId !== messageId) continue;
      if (pending.phase === 'ready') {
        pending.phase = 'transmitting';
        this.#bound(pending, pending.order.deadlineMs);
      }
      pending.decide?.(true);
    }
  }

  /** True if the order of that stanza has no outcome yet. */
  isPending(wireId: string): boolean {
    return this.#pending.has(wireId) || this.#awaiting(wireId) !== undefined;
  }

  /** Cancels an order that was not transmitted. Reports nothing but a rate signal that is still to come. */
  recall(messageId: string): void {
    for (const pending of this.#pending.values()) {
      if (pending.order.messageId === messageId && pending.phase !== 'transmitting') this.#drop(pending);
    }
  }

  /** A transmitted message is not sent once more, for any reason. */
  doNotRepeat(messageId: string): void {
    for (const pending of this.#pending.values()) {
      if (pending.order.messageId !== messageId) continue;
      pending.isWithheld = true;
      if (pending.phase === 'transmitting') pending.decide?.(false);
    }
  }

  /** Returns the orders whose attachments are in work. The attempt does not count against them. */
  returnAttachments(): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.phase === 'fetching' || pending.phase === 'uploading')
        this.#settle(pending, { kind: 'unprepared' });
    }
  }

  /**
   * Stores the steps of sealing. The ciphertexts are passed on once this has resolved. The shop's actor stores the
   * first steps of an order before it transmits. An order that was given up stores nothing, and its ciphertexts are
   * dropped. Steps of another message that is sealed meanwhile may be among them. This is more careful than needed.
   */
  async storeSealed(data: SignalDataSet): Promise<void> {
    const { credentials, sent, prepared } = this.#options;
    const pending = this.#turn.order;
    if (pending === undefined || (pending.phase === 'transmitting' && this.#isStillPending(pending))) {
      await credentials.keys.set(data);
      if (pending?.sentAgain && pending.isWithheld) throw new Error('the message may not be sent once more');
      return;
    }
    const { order, chat, message, audience } = pending;
    if (!this.#isStillPending(pending) || message === undefined) throw new Error('the order was given up');
    const decided = new Promise<boolean>((resolve) => {
      pending.decide = resolve;
    });
    pending.phase = 'ready';
    // It goes into the same write. If that fails it closes the sealed store, which reports it as the session's end.
    sent.remember(order.wireId, { chat, message, audience }).catch(() => undefined);
    await credentials.carry(data, async (changes) => {
      const { asked, lid, hasChat } = pending;
      const { messageId } = order;
      if (this.#isStillPending(pending))
        prepared({ attempt: asked.attempt, messageId, lid, hasChat, changes });
      if (!(await decided)) throw new Error('the order was given up');
    });
  }

  /** Runs work that seals something other than an order. All orders wait meanwhile. */
  alone(work: () => Promise<void>): Promise<void> {
    return this.#turn.alone(work);
  }

  /** The network's answer to a stanza. */
  onAcknowledged(attributes: { readonly [name: string]: string | undefined }): void {
    const pending = this.#awaiting(attributes.id ?? '');
    // Before `transmit` no ciphertext left: the acknowledged stanza addressed no device.
    if (pending === undefined || pending.phase !== 'transmitting') return;
    const { error } = attributes;
    const isPerson = pending.order.kind === 'message' && !isGroupAddress(pending.chat);
    const { devicesHash = attributes.phash } = pending;
    if (attributes.phash !== undefined && attributes.phash !== devicesHash)
      this.#postDevices.differ(pending.chat);
    if (attributes.refresh_lid === 'true' && isPerson) void this.#readdress(pending);
    else if (error === STALE_GROUP && isGroupAddress(pending.chat)) void this.#renewGroup(pending);
    else if (error === undefined) this.#settle(pending, { kind: 'acknowledged' });
    // The first stanza may have been accepted, for any reply to the second.
    else if (pending.isRepeat) this.#settle(pending, { kind: 'unknown' });
    else
      this.#settle(pending, error === RATE_ACK ? { kind: 'rate_limited' } : { kind: 'refused', code: error });
  }

  #awaiting(wireId: string): Pending | undefined {
    for (const pending of this.#pending.values()) if (pending.wireId === wireId) return pending;
    return undefined;
  }

  /** The network took the stanza and delivered it to no one: its address is no longer the recipient's. */
  #readdress(pending: Pending): Promise<void> {
    const { order, to, chat } = pending;
    const { socket, memory, sent, aliases } = this.#options;
    return this.#sendAgain(pending, REFRESH_LID, async (message) => {
      const number = chatAddress(to);
      if (isLidAddress(number)) return [];
      const renewed = await renewLid({ socket, memory, number, former: chat });
      if (renewed === undefined) return [];
      pending.chat = renewed;
      pending.wireId = wireIdAfter(order.wireId);
      // Both changes go into one write.
      void aliases.set(pending.wireId, order.wireId);
      await sent.remember(pending.wireId, { chat: renewed, message });
      return [renewed];
    });
  }

  /** The network refused a post because it names the members by the wrong kind of address. */
  #renewGroup(pending: Pending): Promise<void> {
    const { groups } = this.#options;
    return this.#sendAgain(pending, STALE_GROUP, async () => {
      await this.#forgetWhoHasKey(pending);
      this.#postDevices.forget(pending.chat);
      await groups.request(pending.chat);
      return groups.participants(pending.chat);
    });
  }

  /**
   * Sends a message that reached no one once more, for the recipients that `prepare` returns. It is refused with the
   * code if there are none, after an earlier second attempt, or if the shop's actor no longer allows it. The steps of
   * its ratchets are stored before it leaves.
   */
  async #sendAgain(
    pending: Pending,
    code: string,
    prepare: (message: proto.IMessage) => Promise<readonly string[]>,
  ): Promise<void> {
    const { socket, sessions } = this.#options;
    const { order, message } = pending;
    const isFirst = !pending.sentAgain;
    pending.sentAgain = true;
    try {
      const people = isFirst && message !== undefined ? await prepare(message) : [];
      const isReachable = people.length > 0 && (await sessions.reach(people));
      if (message === undefined || !isReachable || !(await this.#mayLeaveAgain(pending))) {
        this.#settle(pending, pending.isRepeat ? { kind: 'unknown' } : { kind: 'refused', code });
        return;
      }
      await this.#turn.give(pending, () => {
        if (!this.#isStillPending(pending)) return undefined;
        pending.relayed = false;
        const form = this.#formOf(pending, order.kind === 'status' ? people : []);
        return socket.relayMessage(pending.chat, message, form);
      });
    } catch (error) {
      this.#settle(pending, pending.isRepeat ? { kind: 'unknown' } : outcomeOf(pending, error));
    }
  }

  /** Asks the shop's actor, which may know a STOP, a recall or a restriction since the message was transmitted. */
  async #mayLeaveAgain(pending: Pending): Promise<boolean> {
    const { asked, order, chat } = pending;
    const isPerson = order.kind === 'message' && !isGroupAddress(chat);
    const hasChat = isPerson ? await this.#options.tokens.has(chat) : undefined;
    if (pending.isWithheld || !this.#isStillPending(pending)) return false;
    const lid = isLidAddress(chat) ? chat : undefined;
    return new Promise((resolve) => {
      pending.decide = resolve;
      this.#options.prepared({
        attempt: asked.attempt,
        messageId: order.messageId,
        lid,
        hasChat,
        changes: [],
      });
    });
  }

  /** Returns the attributes of the stanza without those of the message, for the present state. */
  #formOf(pending: Pending, audience: readonly string[]): MessageRelayOptions {
    const { order, to, chat, wireId } = pending;
    pending.devicesHash = isGroupAddress(chat) ? this.#postDevices.hashOf(chat) : undefined;
    return {
      messageId: wireId,
      ...wireForm({ kind: order.kind, to, chat }, { audience, devicesHash: pending.devicesHash }),
    };
  }

  /**
   * The socket has closed. `comesBack` is true if a connection may follow, which sends unacknowledged messages again.
   */
  onClosed({ comesBack }: { readonly comesBack: boolean }): void {
    for (const pending of [...this.#pending.values()]) {
      const mayHaveLeft = pending.phase === 'transmitting';
      if (comesBack && mayHaveLeft && !pending.isRepeat && !pending.isWithheld) this.#keep(pending);
      else this.#settle(pending, mayHaveLeft ? { kind: 'unknown' } : { kind: 'not_sent' });
    }
  }

  #keep(pending: Pending): void {
    const { memory, report } = this.#options;
    const { asked, wireId, to, chat, message = {} } = pending;
    if (isGroupAddress(chat)) void this.#forgetWhoHasKey(pending);
    this.#drop(pending);
    const unknown = (): void => report(asked, { kind: 'unknown' });
    memory.unacknowledged.keep({ asked, wireId, to, chat, message, unknown });
  }

  async #run(pending: Pending): Promise<void> {
    try {
      await this.#relay(pending);
    } catch (error) {
      const outcome = outcomeOf(pending, error);
      if (this.#isStillPending(pending)) this.#settle(pending, outcome);
      // It concerns the number, for any outcome of the order.
      else if (outcome.kind === 'rate_limited') this.#options.report(pending.asked, outcome);
    }
  }

  async #relay(pending: Pending): Promise<void> {
    const { order } = pending;
    const { socket, timing } = this.#options;
    const chat = order.kind === 'status' ? STATUS_CHAT : await this.#announce(pending);
    if (chat === undefined) return;
    const fetchingMs = timing.mediaMs + timing.uploadMs;
    this.#bound(pending, order.mediaUrl === undefined ? order.deadlineMs : fetchingMs);
    const message = await makeMessage(this.#options, pending, chat);
    const audience = await statusAudience(socket, order.audience ?? []);
    if (message === undefined || !(await isAddressable(this.#options, pending, { chat, audience }))) {
      this.#settle(pending, { kind: 'unprepared' });
      return;
    }
    const isPerson = order.kind === 'message' && !isGroupAddress(chat);
    const hasChat = isPerson ? await this.#options.tokens.has(chat) : undefined;
    await this.#turn.give(pending, () => {
      if (!this.#isStillPending(pending)) return undefined;
      const lid = isLidAddress(chat) ? chat : undefined;
      Object.assign(pending, { message, chat, audience, lid, hasChat, phase: 'relaying' });
      this.#bound(pending, order.deadlineMs);
      return socket.relayMessage(chat, message, this.#formOf(pending, audience));
    });
    // It resolved without an addressed device, though the devices were known a moment ago.
    if (pending.phase === 'relaying') this.#settle(pending, { kind: 'unknown' });
  }

  /**
   * Looks the recipient up and shows composing. Resolves with the chat, or with undefined if the order does not
   * continue.
   */
  async #announce(pending: Pending): Promise<string | undefined> {
    const { order, asked } = pending;
    const { socket, clock } = this.#options;
    if (!isGroupAddress(order.to)) {
      const answer = await recipientOf(this.#options, order);
      if ('outcome' in answer) {
        this.#settle(pending, answer.outcome);
        return undefined;
      }
      if (!this.#isStillPending(pending)) return undefined;
      pending.to = answer.number;
      const { messageId, knownAs = order.to } = order;
      if (answer.number !== knownAs) this.#options.recipientKnown(messageId, answer.number);
    }
    const chat = await showComposing(socket, pending.to);
    await new Promise<void>((resolve) => void clock.after(asked.composingMs, resolve));
    if (!this.#isStillPending(pending)) return undefined;
    return chat ?? chatOf(socket, pending.to);
  }

  /** An order that was given up may be given again under the same wire id. The first attempt then no longer counts. */
  #isStillPending(pending: Pending): boolean {
    return this.#pending.get(pending.order.wireId) === pending;
  }

  /** Sets the deadline for the next phase of an order. */
  #bound(pending: Pending, mostMs: number): void {
    pending.deadline.cancel();
    pending.deadline = this.#options.clock.after(mostMs, () => this.#overdue(pending));
  }

  #overdue(pending: Pending): void {
    const isWithClient = pending.phase === 'relaying' || pending.phase === 'ready';
    const isStuck = isWithClient || (pending.phase === 'transmitting' && !pending.relayed);
    if (isStuck) {
      // It is settled first, because it is the reason for which the session ends.
      this.#settle(pending, overdueOutcome(pending.phase));
      this.#options.stalled('a send did not come to an end in time');
      return;
    }
    if (pending.phase === 'transmitting') this.#options.unanswered();
    this.#settle(pending, overdueOutcome(pending.phase));
  }

  #settle(pending: Pending, outcome: SendOutcome): void {
    if (!this.#isStillPending(pending)) return;
    const isPost = isGroupAddress(pending.chat) && pending.phase === 'transmitting';
    if (isPost && outcome.kind !== 'acknowledged') void this.#forgetWhoHasKey(pending);
    this.#drop(pending);
    this.#options.report(pending.asked, outcome);
  }

  async #forgetWhoHasKey({ chat, relayed }: Pending): Promise<void> {
    if (!relayed) await this.#turn.ended;
    await forgetKeyHolders(this.#options.credentials.keys, chat);
  }

  #drop(pending: Pending): void {
    this.#pending.delete(pending.order.wireId);
    pending.deadline.cancel();
    pending.decide?.(false);
    this.#turn.bound(pending);
    pending.cancel?.abort();
    pending.release();
    // Not left to the client: if it cannot write its copy of the file, its call never returns.
    void pending.media?.discard();
  }
}
