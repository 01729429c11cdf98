import type { ConnectionState } from '@whiskeysockets/baileys';
import { waitAtMost } from '../../../runtime/clock.ts';
import { errorText } from '../../../runtime/described-error.ts';
import type { FileHosts } from '../../inbound-content.ts';
import { type Egress, egressThrough } from '../../outbound/egress.ts';
import { Unreadable } from '../credential-cipher.ts';
import type { SessionEnd } from '../session-events.ts';
import type { Preparation, WorkerOrder } from '../worker-protocol.ts';
import { OpeningWatch } from './connection/opening-watch.ts';
import { PairingOffer } from './connection/pairing-offer.ts';
import { InboundIntake } from './inbound/inbound-intake.ts';
import { type Credentials, loadCredentials } from './keys/credentials.ts';
import { KeyUse } from './keys/key-use.ts';
import { lookThroughKeys } from './keys/look-through.ts';
import { ReaddressedIds } from './sending/readdressed-ids.ts';
import { chatOf } from './sending/recipients.ts';
import { type RunningParts, startParts } from './session-parts.ts';
import { ChatTimers } from './shared/chat-timers.ts';
import { SessionContext, type SessionEndCodes, type SessionFacts } from './shared/session-context.ts';
import { readDisconnect, sessionEndOf } from './shared/session-end.ts';
import { SealedStore } from './store/sealed-store.ts';
import { userOf } from './wire/chat-address.ts';

/** How long the network may take to be notified that this device is unlinked. Milliseconds. */
const UNLINK_MS = 5_000;

/** The longest wait for the processing of waiting stanzas, before an order is sent again. Milliseconds. */
const CATCH_UP_MS = 10_000;

/**
 * One socket's life: loading credentials → connecting → (qr or code) → open → ended. It ends once, for any cause. First
 * its orders get their outcomes. Some that may have left are kept for the next connection instead. Its `closed` is
 * reported once its writes are stored, or after `drainMs`. Writes that still wait then fail.
 */
export class LiveSession {
  readonly #context: SessionContext;
  readonly #onSettled: () => void;
  readonly #sealed: SealedStore;
  readonly #keyUse: KeyUse;
  readonly #readdressed: ReaddressedIds;
  readonly #chatTimers: ChatTimers;
  readonly #inbound: InboundIntake;
  readonly #opening: OpeningWatch;
  readonly #pairing: PairingOffer;
  #running: RunningParts | undefined;
  #isOpen = false;
  #isUnlinking = false;

  /** `onSettled` is called at the first event of the connection, or at its end: the next session may open. */
  constructor(facts: SessionFacts, onSettled: () => void) {
    const context = new SessionContext(facts, (end, detail, codes) => this.#end(end, detail, codes));
    const { environment, clock, memory, shop } = context;
    this.#context = context;
    this.#onSettled = onSettled;
    this.#sealed = new SealedStore({
      onUsed: (field) => this.#keyUse.mark(field),
      shop,
      ciphers: environment.ciphers,
      cache: environment.sealedCache,
      ask: environment.ask,
      after: (delayMs, act) => clock.after(delayMs, act),
      onFailure: (error) => this.#lostStore(error),
    });
    this.#keyUse = new KeyUse(context, this.#sealed);
    this.#readdressed = new ReaddressedIds(memory.formerWireIds, this.#sealed);
    this.#chatTimers = new ChatTimers(this.#sealed);
    this.#inbound = new InboundIntake(context, {
      orderedAs: (wireId) => this.#readdressed.orderedAs(wireId),
      socket: () => this.#running?.socket,
      chatTimers: this.#chatTimers,
    });
    this.#opening = new OpeningWatch(context, onSettled);
    this.#pairing = new PairingOffer(context, () => this.#opening.stop());
  }

  /** Loads the credentials and connects. Never rejects: a failure is reported as the session's end. */
  async start(): Promise<void> {
    if (this.#context.hasEnded) {
      this.#onSettled();
      return;
    }
    this.#opening.start();
    try {
      const credentials = await loadCredentials(this.#sealed);
      if (!this.#context.hasEnded) this.#connect(credentials);
    } catch (error) {
      this.#lostStore(error);
    }
  }

  prepare(order: Preparation): void {
    if (this.#running !== undefined && this.#isOpen) this.#running.outbox.prepare(order);
    else this.#context.report(order, { kind: 'not_sent' });
  }

  /** Carries out an order. An order that needs an open socket does nothing without one. */
  carryOut(order: WorkerOrder): void {
    const running = this.#running;
    switch (order.type) {
      case 'transmit':
        running?.outbox.transmit(order.messageId);
        break;
      case 'recall':
        running?.outbox.recall(order.messageId);
        break;
      case 'do_not_repeat':
        this.#context.memory.unacknowledged.drop(order.messageId);
        running?.outbox.doNotRepeat(order.messageId);
        break;
      case 'confirm':
        this.#inbound.confirm(order.token);
        running?.receipts.confirm(order.token);
        break;
      case 'mark_read':
        void this.#markRead(order.from, order.wireId);
        break;
      case 'set_inbound_mode':
        this.#inbound.setInboundMode(order.inbound);
        break;
      case 'refresh_groups':
        this.#refreshGroups(order.groupId);
        break;
      default:
        order satisfies never;
    }
  }

  /** Marks a person's message as read; the account's settings decide who is notified. */
  async #markRead(sender: string, wireId: string): Promise<void> {
    const socket = this.#isOpen ? this.#running?.socket : undefined;
    if (socket === undefined) return;
    try {
      const remoteJid = await chatOf(socket, sender);
      await socket.readMessages([{ remoteJid, id: wireId, fromMe: false }]);
    } catch (error) {
      this.#context.logFailure('a person was not notified that their message was read')(error);
    }
  }

  #refreshGroups(groupId?: string): void {
    if (!this.#isOpen || this.#running === undefined) return;
    const { groups } = this.#running;
    const answer = groupId === undefined ? groups.refresh() : groups.request(groupId);
    answer.catch(this.#context.logFailure('the groups could not be asked for'));
  }

  /** Ends the orders that fetch or upload an attachment, because one of their files could not be written. */
  returnAttachments(): void {
    this.#running?.outbox.returnAttachments();
  }

  /** Returns the network's hosts of files; undefined if the session is not open, or the network does not answer. */
  async fileHosts(): Promise<FileHosts | undefined> {
    const { environment, shop, opening } = this.#context;
    const socket = this.#isOpen ? this.#running?.socket : undefined;
    const connection = await socket?.refreshMediaConn().catch(() => undefined);
    if (connection === undefined) return undefined;
    const hosts = connection.hosts.map(({ hostname }) => hostname);
    if (opening.egress === undefined) return { hosts };
    return { hosts, egress: environment.egressVault.open(shop, opening.egress) };
  }

  /**
   * Ends it without a `closed` event. Resolves when its last write is acknowledged, or after `drainMs`. `comesBack` is
   * true if another session of the same identity follows at once. That session sends unacknowledged messages again.
   */
  async close({ comesBack = false } = {}): Promise<void> {
    this.#stopEverything('the session was closed', { comesBack });
    await this.#drain();
  }

  /** Unlinks this device on the network, if it listens, and ends. */
  async unlink(): Promise<void> {
    if (this.#running !== undefined && this.#isOpen) {
      this.#isUnlinking = true;
      const { clock } = this.#context;
      const onFailure = this.#context.logFailure('the network was not notified that a device is unlinked');
      await waitAtMost(clock, UNLINK_MS, this.#running.socket.logout().catch(onFailure));
    }
    await this.close();
  }

  #connect(credentials: Credentials): void {
    this.#running = startParts({
      context: this.#context,
      credentials,
      egress: this.#egress(),
      sealedStore: this.#sealed,
      inbound: this.#inbound,
      readdressedIds: this.#readdressed,
      chatTimers: this.#chatTimers,
      runningParts: () => this.#running,
      onUpdated: (update) => this.#updated(update),
    });
    this.#opening.follow(this.#running.socket);
  }

  /** Throws `Unreadable`: a shop whose egress cannot be read has no way to connect. */
  #egress(): Egress | undefined {
    const { environment, shop, opening, end } = this.#context;
    if (opening.egress === undefined) return undefined;
    return egressThrough(environment.egressVault.open(shop, opening.egress), ({ message }) =>
      end('egress_unreachable', message),
    );
  }

  #updated(update: Partial<ConnectionState>): void {
    if (this.#context.hasEnded || this.#isUnlinking) return;
    if (update.qr !== undefined && this.#running !== undefined)
      this.#pairing.mayPair(this.#running.socket, update.qr);
    if (update.connection === 'open') {
      this.#opening.stop();
      this.#context.later(this.#context.timing.firstSendAfterMs, () => this.#onOpened());
    }
    if (update.connection === 'close') {
      const { message, end, ...codes } = readDisconnect(update.lastDisconnect?.error);
      this.#end(end ?? sessionEndOf({ ...codes, message }), message, codes);
    }
  }

  #onOpened(): void {
    if (this.#running === undefined) return;
    const { credentials, history, limits, watch } = this.#running;
    this.#isOpen = true;
    this.#context.emit({
      type: 'session.connected',
      phone: userOf(credentials.creds.me?.id ?? ''),
      pairedAtMs: credentials.pairedAtMs() ?? this.#context.clock.wallMs(),
    });
    void this.#repeatOrders(this.#running);
    this.#refreshGroups();
    watch.start();
    limits.ask();
    void lookThroughKeys(this.#context, {
      sealedStore: this.#sealed,
      keyUse: this.#keyUse,
      credentials,
      resumeHistory: (names) => history.resume(names),
    });
  }

  /**
   * Sends orders again once all waiting stanzas were processed, because one of them may be a STOP. Waits for that at
   * most `CATCH_UP_MS`.
   */
  async #repeatOrders({ outbox, caughtUp }: RunningParts): Promise<void> {
    const { memory, timers } = this.#context;
    await waitAtMost(timers, CATCH_UP_MS, caughtUp);
    if (this.#isOpen) for (const order of memory.unacknowledged.take()) outbox.repeat(order);
  }

  #lostStore(error: unknown): void {
    const end = error instanceof Unreadable ? 'credentials_unreadable' : 'transient';
    this.#end(end, errorText(error));
  }

  #end(end: SessionEnd, detail: string, codes: SessionEndCodes = {}): void {
    if (this.#context.hasEnded) return;
    this.#stopEverything(detail, { comesBack: end === 'transient' || end === 'egress_unreachable' });
    void this.#drain().then(() => {
      this.#context.emit({ type: 'session.closed', end, statusCode: undefined, detail, ...codes });
      this.#running = undefined;
    });
  }

  #stopEverything(reason: string, { comesBack }: { readonly comesBack: boolean }): void {
    if (this.#context.hasEnded) return;
    this.#context.timers.end();
    if (this.#isOpen) this.#keyUse.save();
    this.#isOpen = false;
    this.#inbound.close();
    this.#running?.outbox.onClosed({ comesBack });
    this.#running?.receipts.close();
    // The promise resolves when the other side has closed too. No code waits for that. A socket that fails to close is
    // closed already.
    this.#running?.socket.end(new Error(reason)).catch(() => undefined);
    this.#opening.stop();
  }

  async #drain(): Promise<void> {
    const { clock, timing } = this.#context;
    await waitAtMost(clock, timing.drainMs, this.#sealed.drain());
    // Writes that still wait would follow those of the next session, and reset its ratchets.
    this.#sealed.fail(new Error('the session ended'));
  }
}
