import type { ConnectionState } from '@whiskeysockets/baileys';
import { type ArmedTimer, waitAtMost } from '../../../runtime/clock.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import type { FileHosts } from '../../inbound-content.ts';
import { type Egress, egressThrough } from '../../outbound/egress.ts';
import { Unreadable } from '../credential-cipher.ts';
import type { SendOutcome, SessionEnd } from '../session-events.ts';
import type { SessionAddress } from '../session-host.ts';
import type { PrepareOrder, WorkerOpening, WorkerOrder } from '../worker-protocol.ts';
import { PairingOffer } from './connection/pairing-offer.ts';
import { InboundIntake } from './inbound/inbound-intake.ts';
import { type Credentials, loadCredentials } from './keys/credentials.ts';
import { KeyUse } from './keys/key-use.ts';
import { ReaddressedIds } from './sending/readdressed-ids.ts';
import { chatOf } from './sending/recipients.ts';
import {
  type RunningParts,
  type SessionEndCause,
  startParts,
  type UnnumberedEvent,
} from './session-parts.ts';
import { ChatTimers } from './shared/chat-timers.ts';
import { describeDefect } from './shared/defect.ts';
import { readClientError, readDisconnect, sessionEndOf } from './shared/session-end.ts';
import type { SessionEnvironment, ShopMemory } from './shared/session-environment.ts';
import { SessionTimers } from './shared/session-timers.ts';
import { SealedStore } from './store/sealed-store.ts';
import { userOf } from './wire/chat-address.ts';

/** The shop, the environment and the callbacks of a live session. */
export interface LiveSessionOptions {
  readonly environment: SessionEnvironment;
  readonly memory: ShopMemory;
  readonly shop: SessionAddress;
  readonly opening: WorkerOpening;
  /** Called at the first event of the connection, or at its end: the next session may open. */
  readonly onSettled: () => void;
}

/** How long the network may take to be notified that this device is unlinked. Milliseconds. */
const UNLINK_MS = 5_000;

/** The longest wait for the processing of waiting stanzas, before an order is sent again. Milliseconds. */
const CATCH_UP_MS = 10_000;

/**
 * One socket's life: loading credentials → connecting → (qr or code) → open → ended. It ends once, for any cause. Its
 * orders get their outcomes first. Its `closed` is reported after all its writes are stored.
 */
export class LiveSession {
  readonly #options: LiveSessionOptions;
  readonly #sealed: SealedStore;
  readonly #keyUse: KeyUse;
  readonly #readdressed: ReaddressedIds;
  readonly #chatTimers: ChatTimers;
  readonly #inbound: InboundIntake;
  readonly #pairing: PairingOffer;
  #watchdog: ArmedTimer | undefined;
  #openingEndsMs: number | undefined;
  readonly #timers: SessionTimers;
  #running: RunningParts | undefined;
  #isOpen = false;
  #hasEnded = false;
  #isSettled = false;
  #isUnlinking = false;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
    const { environment, shop, opening } = options;
    this.#timers = new SessionTimers(environment.clock);
    this.#keyUse = new KeyUse({
      sealedStore: {
        read: (hash, fields) => this.#sealed.read(hash, fields),
        write: (change) => this.#sealed.write(change),
        writeLater: (change) => this.#sealed.writeLater(change),
      },
      nowMs: () => environment.clock.wallMs(),
      later: (delayMs, act) => this.#timers.after(delayMs, act),
      ownUsers: () => {
        const { id = '', lid } = this.#running?.credentials.creds.me ?? {};
        return [id, lid ?? ''].map(userOf);
      },
    });
    this.#sealed = new SealedStore({
      onUsed: (field) => this.#keyUse.mark(field),
      shop,
      ciphers: environment.ciphers,
      cache: environment.sealedCache,
      ask: environment.ask,
      after: (delayMs, act) => environment.clock.after(delayMs, act),
      onFailure: (error) => this.#lostStore(error),
    });
    this.#readdressed = new ReaddressedIds(options.memory.formerWireIds, this.#sealed);
    this.#chatTimers = new ChatTimers(this.#sealed);
    this.#inbound = new InboundIntake({
      environment,
      generation: opening.generation,
      inbound: opening.inbound ?? 'none',
      orderedAs: (wireId) => this.#readdressed.orderedAs(wireId),
      socket: () => this.#running?.socket,
      chatTimers: this.#chatTimers,
      report: (notice) => this.#emit({ type: 'session.inbound', ...notice }),
      onFailed: (detail) => this.#end('transient', { statusCode: undefined, detail }),
      log: (fields, message) => this.#log(fields, message),
    });
    this.#pairing = new PairingOffer({
      clock: environment.clock,
      timing: environment.timing,
      pairWith: opening.pairWith,
      offer: (event) => {
        if (this.#hasEnded) return;
        this.#settle();
        this.#emit(event);
      },
      onFailed: (end, cause) => this.#end(end, cause),
    });
  }

  /** Loads the credentials and connects. Never rejects: a failure is reported as the session's end. */
  async start(): Promise<void> {
    if (this.#hasEnded) {
      this.#options.onSettled();
      return;
    }
    this.#awaitNetwork();
    try {
      const credentials = await loadCredentials(this.#sealed);
      if (!this.#hasEnded) this.#connect(credentials);
    } catch (error) {
      this.#lostStore(error);
    }
  }

  prepare(order: PrepareOrder): void {
    if (this.#running !== undefined && this.#isOpen) this.#running.outbox.prepare(order);
    else this.#report(order, { kind: 'not_sent' });
  }

  /** Carries out an order. One that needs an open socket does nothing without it. */
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
        this.#options.memory.unacknowledged.drop(order.messageId);
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
      this.#logFailure('a person was not notified that their message was read')(error);
    }
  }

  #refreshGroups(groupId?: string): void {
    if (!this.#isOpen || this.#running === undefined) return;
    const { groups } = this.#running;
    const answer = groupId === undefined ? groups.refresh() : groups.request(groupId);
    answer.catch(this.#logFailure('the groups could not be asked for'));
  }

  /** Gives back each attachment in work, because a file of one could not be written. */
  returnAttachments(): void {
    this.#running?.outbox.returnAttachments();
  }

  /** Returns the network's hosts of files; undefined if the session is not open, or the network names none. */
  async fileHosts(): Promise<FileHosts | undefined> {
    const { environment, shop, opening } = this.#options;
    const socket = this.#isOpen ? this.#running?.socket : undefined;
    const connection = await socket?.refreshMediaConn().catch(() => undefined);
    if (connection === undefined) return undefined;
    const hosts = connection.hosts.map(({ hostname }) => hostname);
    if (opening.egress === undefined) return { hosts };
    return { hosts, egress: environment.egressVault.open(shop, opening.egress) };
  }

  /**
   * Ends it without a `closed` event; resolves when its last write is acknowledged. `comesBack` is true if another
   * session of the same identity follows at once. That session sends unacknowledged messages again.
   */
  async close({ comesBack = false } = {}): Promise<void> {
    this.#stopEverything('the session was closed', { comesBack });
    await this.#drain();
  }

  /** Unlinks this device on the network, if it listens, and ends. */
  async unlink(): Promise<void> {
    if (this.#running !== undefined && this.#isOpen) {
      this.#isUnlinking = true;
      const onFailure = this.#logFailure('the network was not notified that a device is unlinked');
      const { clock } = this.#options.environment;
      await waitAtMost(clock, UNLINK_MS, this.#running.socket.logout().catch(onFailure));
    }
    await this.close();
  }

  #connect(credentials: Credentials): void {
    this.#running = startParts({
      ...this.#options,
      credentials,
      egress: this.#egress(),
      sealedStore: this.#sealed,
      inbound: this.#inbound,
      readdressedIds: this.#readdressed,
      chatTimers: this.#chatTimers,
      runningParts: () => this.#running,
      hasEnded: () => this.#hasEnded,
      later: (delayMs, act) => this.#timers.after(delayMs, act),
      emit: (event) => this.#emit(event),
      report: (order, outcome) => this.#report(order, outcome),
      log: (fields, message) => this.#log(fields, message),
      end: (end, cause) => this.#end(end, cause),
      onUpdated: (update) => this.#updated(update),
    });
    this.#running.socket.ws.on('frame', this.#awaitNetwork);
  }

  /**
   * Ends a session that gets nothing from the network for a while as it opens. The client does not report a refused
   * upgrade, HTTP 503 or 429 (docs/chat-client.md, What the client surfaces). Each frame of the network starts the wait
   * from the beginning. On a busy machine many openings with long backlogs take long, and a retry costs a login.
   */
  readonly #awaitNetwork = (): void => {
    if (this.#isSettled) return;
    const { clock, timing } = this.#options.environment;
    this.#openingEndsMs ??= clock.monotonicMs() + timing.openingMs;
    const leftMs = this.#openingEndsMs - clock.monotonicMs();
    this.#watchdog?.cancel();
    this.#watchdog = clock.after(Math.max(0, Math.min(timing.connectMs, leftMs)), () =>
      this.#end('transient', { statusCode: 408, detail: 'the connection came to nothing in time' }),
    );
  };

  /** Throws `Unreadable`: a shop whose egress cannot be read has no way to connect. */
  #egress(): Egress | undefined {
    const { environment, shop, opening } = this.#options;
    if (opening.egress === undefined) return undefined;
    return egressThrough(environment.egressVault.open(shop, opening.egress), ({ message }) =>
      this.#end('egress_unreachable', { statusCode: undefined, detail: message }),
    );
  }

  #updated(update: Partial<ConnectionState>): void {
    if (this.#hasEnded || this.#isUnlinking) return;
    if (update.qr !== undefined && this.#running !== undefined)
      this.#pairing.mayPair(this.#running.socket, update.qr);
    if (update.connection === 'open') {
      this.#settle();
      this.#timers.after(this.#options.environment.timing.settleMs, () => this.#onOpened());
    }
    if (update.connection === 'close') {
      const { message: detail, end, ...cause } = readDisconnect(update.lastDisconnect?.error);
      this.#end(end ?? sessionEndOf({ ...cause, message: detail }), { ...cause, detail });
    }
  }

  #onOpened(): void {
    if (this.#running === undefined) return;
    const { credentials } = this.#running;
    this.#isOpen = true;
    this.#emit({
      type: 'session.connected',
      phone: userOf(credentials.creds.me?.id ?? ''),
      pairedAtMs: credentials.pairedAtMs() ?? this.#options.environment.clock.wallMs(),
    });
    void this.#repeatOrders(this.#running);
    this.#refreshGroups();
    this.#running.watch.start();
    this.#running.limits.ask();
    void this.#lookThroughKeys(this.#running);
  }

  /**
   * Seals all values that an older key sealed with the newest key. Takes the waiting parts of the account's history, and
   * removes unused keys. It repeats each day. An old account takes both threads some tens of milliseconds. So the
   * sessions of a worker do this one by one, and messages of other shops come between two accounts.
   */
  async #lookThroughKeys({ credentials, history }: RunningParts): Promise<void> {
    this.#timers.after(DAY_MS, () => {
      if (this.#running !== undefined) void this.#lookThroughKeys(this.#running);
    });
    const { shop, environment } = this.#options;
    const { clock, lookThroughs, timing } = environment;
    const { giveBack } = await lookThroughs.take(shop.shopId);
    const limit = clock.after(timing.lookThroughMs, giveBack);
    try {
      if (this.#hasEnded) return;
      const names = await this.#sealed.reseal('credentials');
      if (this.#isOpen) history.resume(names);
      if (this.#isOpen) await this.#keyUse.prune(names, credentials.keys);
    } catch (error) {
      this.#logFailure('the keys were not all gone through')(error);
    } finally {
      limit.cancel();
      giveBack();
    }
  }

  /** Sends orders again after all waiting stanzas were processed, because one of them may be a STOP. */
  async #repeatOrders({ outbox, caughtUp }: RunningParts): Promise<void> {
    const { unacknowledged } = this.#options.memory;
    await waitAtMost(this.#timers, CATCH_UP_MS, caughtUp);
    if (this.#isOpen) for (const order of unacknowledged.take()) outbox.repeat(order);
  }

  #lostStore(error: unknown): void {
    const end = error instanceof Unreadable ? 'credentials_unreadable' : 'transient';
    this.#end(end, { statusCode: undefined, detail: readClientError(error).message });
  }

  #end(end: SessionEnd, cause: SessionEndCause): void {
    if (this.#hasEnded) return;
    this.#stopEverything(cause.detail, { comesBack: end === 'transient' || end === 'egress_unreachable' });
    void this.#drain().then(() => {
      this.#emit({ type: 'session.closed', end, ...cause });
      this.#running = undefined;
    });
  }

  #stopEverything(reason: string, { comesBack }: { readonly comesBack: boolean }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#isOpen) this.#keyUse.save();
    this.#isOpen = false;
    this.#timers.end();
    this.#inbound.close();
    this.#running?.outbox.onClosed({ comesBack });
    this.#running?.receipts.close();
    // It resolves when the other side has closed too, and no code needs to wait for that. A failure finds it closed
    // already.
    this.#running?.socket.end(new Error(reason)).catch(() => undefined);
    this.#settle();
  }

  async #drain(): Promise<void> {
    const { clock, timing } = this.#options.environment;
    await waitAtMost(clock, timing.drainMs, this.#sealed.drain());
    // Writes that still wait would follow those of the next session, and reset its ratchets.
    this.#sealed.fail(new Error('the session ended'));
  }

  #settle(): void {
    this.#watchdog?.cancel();
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#running?.socket.ws.off('frame', this.#awaitNetwork);
    this.#options.onSettled();
  }

  #report({ attempt, order: { messageId } }: PrepareOrder, outcome: SendOutcome): void {
    const { environment, shop, opening } = this.#options;
    const { generation } = opening;
    const { shopId } = shop;
    environment.post({ kind: 'outcome', shopId, generation, attempt, messageId, outcome });
  }

  #emit(event: UnnumberedEvent): void {
    const { environment, shop, opening } = this.#options;
    const numbered = { ...event, generation: opening.generation } as never;
    environment.post({ kind: 'event', shopId: shop.shopId, event: numbered });
  }

  #logFailure(message: string): (error: unknown) => void {
    return (error) => this.#log({ ...describeDefect(error) }, message);
  }

  #log(fields: Record<string, unknown>, message: string): void {
    const { environment, shop } = this.#options;
    environment.post({ kind: 'log', level: 'warn', fields: { shopId: shop.shopId, ...fields }, message });
  }
}
