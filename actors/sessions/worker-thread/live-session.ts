import type { ConnectionState, WASocket } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../runtime/clock.ts';
import { Unreadable } from '../credential-cipher.ts';
import type { SendOrder, SessionAddress, SessionEnd, SessionEvent } from '../session-host.ts';
import type { WorkerOpening } from '../worker-protocol.ts';
import { connectClient, holdReceipts } from './connection/client-socket.ts';
import { LimitsWatch } from './connection/limits-watch.ts';
import { LineWatch } from './connection/line-watch.ts';
import { PairingOffer } from './connection/pairing-offer.ts';
import { sayUnlinked } from './connection/unlinking.ts';
import { InboundIntake } from './inbound/inbound-intake.ts';
import { InboundStanzas } from './inbound/inbound-stanzas.ts';
import { LONGEST_HOLD_MS, Receipts } from './inbound/receipts.ts';
import { type Credentials, loadCredentials } from './keys/credentials.ts';
import { makeRatchets } from './keys/ratchets.ts';
import { RetryAnswers } from './retries/retry-answers.ts';
import { DeviceSessions, isKeyless, ownDevice } from './sending/device-sessions.ts';
import { GroupDirectory } from './sending/group-directory.ts';
import { lookUpNumbers } from './sending/number-lookup.ts';
import { Outbox } from './sending/outbox.ts';
import type { OutboxParts } from './sending/outbox-options.ts';
import { chatOf, checkRecipient, throttled } from './sending/recipients.ts';
import { SentMessages } from './sending/sent-messages.ts';
import { type Disconnect, readClientError, readDisconnect, sessionEndOf } from './session/session-end.ts';
import type { SessionEnvironment, ShopMemory } from './session/session-environment.ts';
import { SessionTimers } from './session/session-timers.ts';
import { SealedStore } from './store/sealed-store.ts';
import { isGroupId, isLidAddress, userOf } from './wire/chat-address.ts';
import { personOf } from './wire/inbound-message.ts';

type WithoutGeneration<T> = T extends { generation: number } ? Omit<T, 'generation'> : never;

/** The shop, the environment and the callbacks of a live session. */
export interface LiveSessionOptions {
  readonly environment: SessionEnvironment;
  readonly memory: ShopMemory;
  readonly shop: SessionAddress;
  readonly opening: WorkerOpening;
  /** The first sign of life came, or the end: the next session may open. */
  readonly onSettled: () => void;
}

/** Everything that stands once a client runs. */
interface Running {
  readonly socket: WASocket;
  readonly credentials: Credentials;
  readonly outbox: Outbox;
  readonly groups: GroupDirectory;
  readonly receipts: Receipts;
  readonly retries: RetryAnswers;
  readonly watch: LineWatch;
  readonly limits: LimitsWatch;
}

/**
 * One socket's life: loading credentials → connecting → (qr or code) → open → ended. It ends once, whatever ends it: its
 * orders get their outcomes first, then its `closed` is told, when all it wrote stands in the store.
 */
export class LiveSession {
  readonly #options: LiveSessionOptions;
  readonly #sealed: SealedStore;
  readonly #inbound: InboundIntake;
  readonly #pairing: PairingOffer;
  #watchdog: ArmedTimer | undefined;
  readonly #timers: SessionTimers;
  #running: Running | undefined;
  #open = false;
  #ended = false;
  #settled = false;
  #unlinking = false;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
    const { environment, shop, opening } = options;
    this.#timers = new SessionTimers(environment.clock);
    this.#sealed = new SealedStore({
      shop,
      ciphers: environment.ciphers,
      cache: environment.sealed,
      ask: environment.ask,
      after: (delayMs, act) => environment.clock.after(delayMs, act),
      onFailure: (error) => this.#lostStore(error),
    });
    this.#inbound = new InboundIntake({
      environment,
      generation: opening.generation,
      socket: () => this.#running?.socket,
      report: (notice) => this.#emit({ type: 'session.inbound', ...notice }),
      failed: (detail) => this.#end('transient', { statusCode: undefined, detail }),
      log: (fields, message) => this.#log(fields, message),
    });
    this.#pairing = new PairingOffer({
      clock: environment.clock,
      timing: environment.timing,
      pairWith: opening.pairWith,
      offer: (offered) => {
        if (this.#ended) return;
        this.#settle();
        this.#emit(offered);
      },
      failed: (end, cause) => this.#end(end, cause),
    });
  }

  /** Loads the credentials and connects. Never rejects: what goes wrong is told as the session's end. */
  async start(): Promise<void> {
    if (this.#ended) {
      this.#options.onSettled();
      return;
    }
    const { clock, timing } = this.#options.environment;
    // A refused upgrade (HTTP 503 or 429) surfaces as nothing at all (docs/chat-client.md, What the client surfaces).
    this.#watchdog = clock.after(timing.connectMs, () =>
      this.#end('transient', { statusCode: 408, detail: 'the connection came to nothing in time' }),
    );
    try {
      const credentials = await loadCredentials(this.#sealed);
      if (!this.#ended) this.#connect(credentials);
    } catch (error) {
      this.#lostStore(error);
    }
  }

  send(order: SendOrder): void {
    if (this.#running !== undefined && this.#open) this.#running.outbox.send(order);
    else
      this.#emit({ type: 'session.send_outcome', messageId: order.messageId, outcome: { kind: 'not_sent' } });
  }

  release(messageId: string): void {
    this.#running?.outbox.release(messageId);
  }

  recall(messageId: string): void {
    this.#running?.outbox.recall(messageId);
  }

  attachmentsFailed(): void {
    this.#running?.outbox.attachmentsFailed();
  }

  async check(messageId: string, to: string): Promise<void> {
    const { environment } = this.#options;
    const socket = this.#open ? this.#running?.socket : undefined;
    if (socket === undefined) {
      this.#emit({ type: 'session.recipient_checked', messageId, exists: undefined, rateLimited: false });
      return;
    }
    const { numbers: cache, timing } = environment;
    const answer = await checkRecipient({ socket, to, cache, timing });
    this.#emit({ type: 'session.recipient_checked', messageId, ...answer });
  }

  async compose(messageId: string, to: string, durationMs: number): Promise<void> {
    let lid: string | undefined;
    const done = (): void =>
      this.#emit({ type: 'session.composed', messageId, ...(lid === undefined ? {} : { lid }) });
    if (this.#running === undefined || !this.#open || to === '') return done();
    const { socket } = this.#running;
    try {
      const chat = await chatOf(socket, to);
      if (isLidAddress(chat)) lid = chat;
      await socket.sendPresenceUpdate('composing', chat);
    } catch (error) {
      // Else it could not be shown, and the message goes out all the same.
      const answer = throttled(error);
      if (answer !== undefined)
        return this.#emit({ type: 'session.recipient_checked', messageId, ...answer });
    }
    this.#options.environment.clock.after(durationMs, done);
  }

  confirm(token: string): void {
    this.#inbound.confirm(token);
    this.#running?.receipts.confirm(token);
  }

  refreshGroups(groupId?: string): void {
    if (!this.#open || this.#running === undefined) return;
    const { groups } = this.#running;
    const asked = groupId === undefined ? groups.refresh() : groups.look(groupId);
    asked.catch(this.#failed('the groups could not be asked for'));
  }

  /** Ends it without a `closed` event; resolves when its last write is answered. */
  async close(): Promise<void> {
    this.#stopEverything('the session was closed');
    await this.#drained();
  }

  /** Tells the network that this device is unlinked, where it listens, and ends. */
  async unlink(): Promise<void> {
    if (this.#running !== undefined && this.#open) {
      this.#unlinking = true;
      const failed = this.#failed('the network was not told that a device is unlinked');
      await sayUnlinked(this.#running.socket, this.#options.environment.clock, failed);
    }
    await this.close();
  }

  #connect(credentials: Credentials): void {
    const { environment, memory } = this.#options;
    const sent = new SentMessages(this.#sealed, environment.clock);
    const sessions = new DeviceSessions(() => socket, memory);
    const ownAddresses = (): string[] =>
      [credentials.creds.me?.id, credentials.creds.me?.lid].flatMap((own) =>
        own == null ? [] : [personOf(own)],
      );
    const ratchets = makeRatchets(credentials.keys, {
      storeSealed: async (data) => {
        const { outbox } = this.#running ?? {};
        await (outbox === undefined ? credentials.keys.set(data) : outbox.storeSealed(data));
      },
      storeUnhurried: (data) => credentials.setUnhurried(data),
      lookUpNumbers: async (addresses) => {
        const { socket } = this.#running ?? {};
        return socket === undefined ? undefined : lookUpNumbers(socket, memory.devices, addresses);
      },
      received: (envelope, text) => this.#inbound.received(envelope, text),
      isLeftOut: (address) =>
        isKeyless(memory.keyless, address) || ownDevice(credentials.creds.me).includes(address),
      ownAddresses,
      numbersBeside: memory.numbersBeside,
    });
    const { socket, tokens } = connectClient({
      ...this.#options,
      credentials,
      ratchets,
      groups: () => this.#running?.groups,
    });
    const later = (delayMs: number, act: () => void): ArmedTimer => this.#timers.after(delayMs, act);
    new InboundStanzas({ ...this.#options, socket, ratchets, later });
    const groups = new GroupDirectory({
      socket,
      clock: environment.clock,
      floorMs: environment.timing.groupsFloorMs,
      queryMs: environment.timing.queryMs,
      later,
      ownAddresses,
      report: (list) => this.#emit({ type: 'session.groups', groups: list }),
    });
    const parts = { socket, groups, sent, tokens, credentials, sessions, memory };
    const outbox = this.#makeOutbox(parts);
    const log = (fields: Record<string, unknown>, message: string): void => this.#log(fields, message);
    const retries = new RetryAnswers({ ...parts, outbox, environment, ownAddresses, later, log });
    const limits = new LimitsWatch({
      socket,
      everyMs: environment.timing.limitsEveryMs,
      later: (delayMs, act) => this.#timers.after(delayMs, act),
      report: (notice) => this.#emit(notice),
      log: (fields, message) => this.#log(fields, message),
    });
    const receipts = new Receipts({
      ownAddresses,
      numberOf: async (lid) => (await socket.signalRepository.lidMapping.getPNForLID(lid)) ?? undefined,
      isOutside: (group, addresses) => groups.excludes(group, addresses),
      isPending: (wireId) => outbox.isPending(wireId),
      orderedAs: (wireId) => memory.aliases.get<string>(wireId) ?? wireId,
      atSharedMoment: (act) => void environment.shared.add(() => this.#ended || act(), 0),
      afterLongestHold: (act) => later(LONGEST_HOLD_MS, act),
      untold: (count) => this.#log({ count }, 'receipts were too many at once, and are not told'),
      generation: this.#options.opening.generation,
      report: (token, told) => this.#emit({ type: 'session.receipts', token, receipts: told }),
    });
    const watch = new LineWatch({
      socket,
      clock: environment.clock,
      timing: environment.timing,
      later,
      unanswered: (question) =>
        this.#end('transient', {
          statusCode: 408,
          detail: `the socket is open and nobody answers ${question}`,
        }),
    });
    this.#running = { socket, credentials, outbox, groups, receipts, retries, watch, limits };
    this.#listen(this.#running);
  }

  #makeOutbox(parts: OutboxParts): Outbox {
    const { environment, shop, opening } = this.#options;
    const { generation } = opening;
    return new Outbox({
      ...parts,
      clock: environment.clock,
      timing: environment.timing,
      tenantId: shop.tenantId,
      media: environment.media,
      report: (messageId, outcome) => this.#emit({ type: 'session.send_outcome', messageId, outcome }),
      prepared: (word) => environment.tell({ kind: 'prepared', shopId: shop.shopId, generation, ...word }),
      stalled: (detail) => this.#end('transient', { statusCode: undefined, detail }),
      forget: (to) => environment.numbers.del(to),
      unanswered: () => void this.#running?.watch.probe(),
    });
  }

  #listen({ socket, credentials, outbox, groups, receipts, retries }: Running): void {
    socket.ws.on('CB:ack,class:message', (node: { attrs: Record<string, string> }) =>
      outbox.acknowledged(node.attrs),
    );
    socket.ws.on('CB:notification,type:w:gp2', ({ attrs }: { attrs: Record<string, string> }) => {
      if (isGroupId(attrs.from ?? '')) groups.changed(attrs.from ?? '');
    });
    holdReceipts(socket, (node) => receipts.received(node), retries);
    socket.ev.on('creds.update', () => {
      // Not lost here: a write that fails closes the sealed store, which tells it as the session's end.
      credentials.save(this.#options.environment.clock.wallMs()).catch(() => undefined);
    });
    socket.ev.on('connection.update', (update) => this.#updated(update));
  }

  #updated(update: Partial<ConnectionState>): void {
    if (this.#ended || this.#unlinking) return;
    if (update.qr !== undefined && this.#running !== undefined)
      this.#pairing.mayPair(this.#running.socket, update.qr);
    if (update.connection === 'open') {
      this.#settle();
      this.#timers.after(this.#options.environment.timing.settleMs, () => this.#opened());
    }
    if (update.connection === 'close') {
      const { message: detail, ...cause } = readDisconnect(update.lastDisconnect?.error);
      this.#end(sessionEndOf({ ...cause, message: detail }), { ...cause, detail });
    }
  }

  #opened(): void {
    if (this.#running === undefined) return;
    const { credentials } = this.#running;
    this.#open = true;
    this.#emit({
      type: 'session.connected',
      phone: userOf(credentials.creds.me?.id ?? ''),
      pairedAtMs: credentials.pairedAtMs() ?? this.#options.environment.clock.wallMs(),
    });
    this.refreshGroups();
    this.#running.watch.start();
    this.#running.limits.ask();
    this.#sealed.reseal('credentials').catch(this.#failed('what an older key sealed was not sealed again'));
  }

  #lostStore(error: unknown): void {
    const end = error instanceof Unreadable ? 'credentials_unreadable' : 'transient';
    this.#end(end, { statusCode: undefined, detail: readClientError(error).message });
  }

  #end(end: SessionEnd, cause: Omit<Disconnect, 'message'> & { readonly detail: string }): void {
    if (this.#ended) return;
    this.#stopEverything(cause.detail);
    void this.#drained().then(() => {
      this.#emit({ type: 'session.closed', end, ...cause });
      this.#running = undefined;
    });
  }

  #stopEverything(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#open = false;
    this.#timers.end();
    this.#inbound.close();
    this.#running?.outbox.lost();
    this.#running?.receipts.close();
    // It resolves when the other side has closed too, which nobody needs to wait for; a failure finds it closed already.
    this.#running?.socket.end(new Error(why)).catch(() => undefined);
    this.#settle();
  }

  async #drained(): Promise<void> {
    const { clock, timing } = this.#options.environment;
    await new Promise<void>((resolve) => {
      const timeout = clock.after(timing.drainMs, resolve);
      void this.#sealed.drained().then(() => {
        timeout.cancel();
        resolve();
      });
    });
    // What still waits in line would come after what the next session writes, and turn its ratchets back.
    this.#sealed.fail(new Error('the session ended'));
  }

  #settle(): void {
    this.#watchdog?.cancel();
    if (this.#settled) return;
    this.#settled = true;
    this.#options.onSettled();
  }

  #emit(event: WithoutGeneration<SessionEvent>): void {
    const { environment, shop, opening } = this.#options;
    const { generation } = opening;
    environment.tell({ kind: 'event', shopId: shop.shopId, event: { ...event, generation } as never });
  }

  #failed(message: string): (error: unknown) => void {
    return (error) => this.#log({ cause: readClientError(error).message }, message);
  }

  #log(fields: Record<string, unknown>, message: string): void {
    const { environment, shop } = this.#options;
    environment.tell({ kind: 'log', level: 'warn', fields: { shopId: shop.shopId, ...fields }, message });
  }
}
