import type { EgressAddress } from '../../egress-address.ts';
import type { FileHosts } from '../../inbound-content.ts';
import { egressThrough } from '../../outbound/egress.ts';
import { egressProblem } from '../../outbound/egress-check.ts';
import { isLoopbackUrl } from '../../outbound/loopback-url.ts';
import { keepSwept } from '../attachment-files.ts';
import { SessionCounters } from '../session-counters.ts';
import type { SessionEvent } from '../session-events.ts';
import type {
  SendOrder,
  SessionAddress,
  SessionFigures,
  SessionHost,
  SessionOpening,
  SessionOrder,
} from '../session-host.ts';
import { composingMs, DEFAULT_SESSION_TIMING, type SessionTiming } from '../session-timing.ts';
import type { SessionReport, WorkerCommand } from '../worker-protocol.ts';
import type { BaileysHostOptions } from './baileys-host-options.ts';
import { CredentialErasures } from './credential-erasures.ts';
import { answerStoreRequest, eraseSealed, writesOf } from './credential-store.ts';
import { HostedSession, type SettledOrder, workerFor } from './hosted-session.ts';
import { NetworkVersion } from './network-version.ts';
import { addSessionNote, noteEvent, noteOutcome, type SessionNotes } from './session-notes.ts';
import { threadEntry } from './thread-sources.ts';
import { DEFAULT_WORKER_SUPERVISION, WorkerPool } from './worker-pool.ts';
import { WorkerQuestions } from './worker-questions.ts';

/** How long a session may take to report its file hosts, in milliseconds. It is less than a forwarded call may take. */
const FILE_HOSTS_MS = 5_000;

/** The sending component: the real client in supervised worker threads. */
export class BaileysHost implements SessionHost {
  readonly #options: BaileysHostOptions;
  readonly #timing: SessionTiming;
  readonly #pool: WorkerPool;
  readonly #sessions = new Map<string, HostedSession>();
  readonly #counters = new SessionCounters();
  readonly #notes: SessionNotes;
  /** Shops whose session opens once workers are ready, the version to send is known, and no erasure of it runs. */
  readonly #awaiting = new Set<string>();
  readonly #erasures = new CredentialErasures((shopId) => this.#onErased(shopId));
  readonly #sweep: { stop(): void };
  readonly #networkVersion: NetworkVersion;
  readonly #questions: WorkerQuestions;
  #isStopped = false;

  constructor(options: BaileysHostOptions) {
    const isSimulated = options.noiseRootKey !== undefined || options.media.allowLoopback;
    if (isSimulated && !isLoopbackUrl(options.socketUrl))
      throw new Error('a simulated chat network must be on loopback');
    this.#options = options;
    this.#questions = new WorkerQuestions(options.clock);
    this.#notes = { clock: options.clock, log: options.log, counters: this.#counters };
    this.#sweep = keepSwept(options);
    this.#timing = { ...DEFAULT_SESSION_TIMING, ...options.timing };
    this.#pool = new WorkerPool({
      entry: threadEntry(import.meta.url, '../worker-thread/session-worker'),
      count: options.workers,
      setup: {
        socketUrl: options.socketUrl,
        deviceName: options.deviceName,
        credentialsKeys: options.credentialsKeys.map((key) => new Uint8Array(key)),
        noiseRootKey: options.noiseRootKey === undefined ? undefined : new Uint8Array(options.noiseRootKey),
        mediaCa: options.mediaCa,
        media: options.media,
        timing: this.#timing,
      },
      supervision: { ...DEFAULT_WORKER_SUPERVISION, ...options.supervision },
      clock: options.clock,
      log: options.log,
      events: {
        onReport: (report, worker) => this.#onReport(report, worker),
        onLost: (worker, detail) => this.#onWorkerLost(worker, detail),
        onReady: () => this.#openAwaiting(),
        onUnreachable: () => this.#toAll({ type: 'session.unreachable' }),
      },
    });
    const { askRevision: ask } = options;
    this.#networkVersion = new NetworkVersion({ ...options, ask, onRead: () => this.#openAwaiting() });
  }

  /** A session that opens during an erasure would read the identity that is being erased. */
  #mayOpen(shopId: string): boolean {
    return !this.#pool.isStarting() && this.#networkVersion.isRead && !this.#erasures.isRunning(shopId);
  }

  open(shop: SessionAddress, opening: SessionOpening): void {
    const { clock } = this.#options;
    const session = this.#sessions.get(shop.shopId) ?? new HostedSession(shop, opening, clock);
    this.#sessions.set(shop.shopId, session);
    session.opening = opening;
    session.isClosing = false;
    session.enter('opening');
    if (!this.#mayOpen(shop.shopId)) {
      this.#awaiting.add(shop.shopId);
      return;
    }
    session.worker = workerFor(session, this.#sessions.values(), this.#pool.readyWorkers());
    const clientVersion = this.#networkVersion.version ?? this.#options.clientVersion;
    if (this.#post(session, { kind: 'open', shop, opening: { ...opening, clientVersion } })) return;
    session.enter('ended');
    this.#reportSoon(shop, {
      type: 'session.closed',
      generation: opening.generation,
      end: 'transient',
      statusCode: undefined,
      detail: 'no session worker is there',
    });
  }

  #openAwaiting(): void {
    for (const shopId of [...this.#awaiting].filter((awaitingId) => this.#mayOpen(awaitingId))) {
      this.#awaiting.delete(shopId);
      const session = this.#sessions.get(shopId);
      if (session !== undefined && !session.isClosing) this.open(session.shop, session.opening);
    }
  }

  close(shop: SessionAddress): void {
    this.#awaiting.delete(shop.shopId);
    const session = this.#sessions.get(shop.shopId);
    if (session === undefined) return;
    session.isClosing = true;
    if (!this.#post(session, { kind: 'close', shopId: shop.shopId })) this.#sessions.delete(shop.shopId);
  }

  erase(shop: SessionAddress): Promise<void> {
    const { shopId } = shop;
    this.#awaiting.delete(shopId);
    const session = this.#sessions.get(shopId);
    if (session !== undefined) session.isClosing = true;
    return this.#erasures.run(shopId, async () => {
      // The answer comes when the worker has ended all the shop's sessions so far.
      if (session !== undefined) await this.#ask(session, 'unlink');
      await eraseSealed(this.#options.store, shop);
    });
  }

  /** The worker has no session of the shop. One that was asked for meanwhile opens now. */
  #onErased(shopId: string): void {
    if (this.#sessions.get(shopId)?.isClosing === true) this.#sessions.delete(shopId);
    this.#openAwaiting();
  }

  order(shop: SessionAddress, order: SessionOrder): void {
    const session = this.#sessions.get(shop.shopId);
    switch (order.type) {
      case 'prepare':
        this.#prepare(shop, order.order);
        return;
      case 'transmit':
        if (!session?.transmit(order.messageId)) return;
        break;
      case 'recall':
        if (!session?.recall(order.messageId)) return;
        break;
      case 'set_inbound_mode':
        if (session !== undefined) session.opening = { ...session.opening, inbound: order.inbound };
        break;
      default:
      // Only the session in its worker acts on it.
    }
    this.#post(session, { kind: 'order', shopId: shop.shopId, order });
  }

  #prepare(shop: SessionAddress, order: SendOrder): void {
    const { shopId } = shop;
    const { messageId, text = '' } = order;
    const session = this.#live(shop);
    const attempt = session?.take(messageId);
    if (session !== undefined && attempt === undefined) return;
    const shownMs = composingMs(this.#timing, text.length, this.#options.random());
    const composing = { order, composingMs: shownMs };
    if (attempt !== undefined && this.#post(session, { kind: 'prepare', shopId, attempt, ...composing }))
      return;
    session?.recall(messageId);
    this.#reportSoon(shop, {
      type: 'session.send_outcome',
      generation: this.#generationOf(shop),
      messageId,
      outcome: { kind: 'not_sent' },
    });
  }

  tryEgress(address: EgressAddress): Promise<string | undefined> {
    return egressProblem(egressThrough(address), this.#options.socketUrl);
  }

  fileHosts(shop: SessionAddress): Promise<FileHosts | undefined> {
    return this.#ask<FileHosts>(this.#live(shop), 'file_hosts', FILE_HOSTS_MS);
  }

  isAvailable(): boolean {
    return this.#pool.readyWorkers().length > 0 || this.#pool.isBooting();
  }

  figures(): SessionFigures {
    return {
      workersLost: this.#pool.losses(),
      workerHeapBytes: this.#pool.heapBytes(),
      ...this.#counters.counts(),
    };
  }

  describe(shop: SessionAddress): Record<string, unknown> | undefined {
    return this.#sessions.get(shop.shopId)?.describe();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#sweep.stop();
    this.#networkVersion.stop();
    await this.#pool.stop();
    for (const session of this.#sessions.values()) this.#settleOrders(session);
    this.#sessions.clear();
  }

  /** Returns the shop's session, unless it was asked to end. */
  #live(shop: SessionAddress): HostedSession | undefined {
    const session = this.#sessions.get(shop.shopId);
    return session === undefined || session.isClosing ? undefined : session;
  }

  #generationOf(shop: SessionAddress): number {
    return this.#sessions.get(shop.shopId)?.generation ?? 0;
  }

  #post(session: HostedSession | undefined, message: WorkerCommand): boolean {
    return session?.worker !== undefined && this.#pool.post(session.worker, message);
  }

  #ask<Answer>(
    session: HostedSession | undefined,
    kind: 'unlink' | 'file_hosts',
    withinMs?: number,
  ): Promise<Answer | undefined> {
    const shopId = session?.shop.shopId ?? '';
    const post = (questionId: number): boolean => this.#post(session, { kind, shopId, questionId });
    return this.#questions.ask<Answer>(session?.worker, post, withinMs);
  }

  #onReport(message: SessionReport, worker: { worker: number; reply(answer: WorkerCommand): void }): void {
    switch (message.kind) {
      case 'event':
        this.#forward(message.shopId, message.event);
        break;
      case 'note':
        this.#onNote(message);
        break;
      case 'prepared':
        this.#onPrepared(message);
        break;
      case 'outcome':
        this.#onOutcome(message);
        break;
      case 'closed':
        this.#onClosed(message.shopId, message.generation);
        break;
      case 'answer':
        this.#questions.answer(message.questionId, message.answer);
        break;
      case 'store': {
        const { shop, request, requestId } = message;
        const generation = this.#generationOf(shop);
        const goesOn = (): boolean => this.#live(shop)?.generation === generation;
        void answerStoreRequest({ ...this.#options, goesOn }, shop, request).then((answer) => {
          worker.reply({ kind: 'store_answer', requestId, answer });
        });
        break;
      }
      case 'log':
        this.#options.log[message.level]({ worker: worker.worker, ...message.fields }, message.message);
        break;
    }
  }

  #onNote({ shopId, generation, note }: Extract<SessionReport, { kind: 'note' }>): void {
    const session = this.#sessions.get(shopId);
    if (session?.generation === generation) addSessionNote(this.#notes, session, note);
  }

  #onPrepared(report: Extract<SessionReport, { kind: 'prepared' }>): void {
    const { shopId, generation, attempt, messageId, lid, hasChat } = report;
    const session = this.#sessions.get(shopId);
    if (session?.isOpen(messageId, attempt) !== true) return;
    const writes = report.changes.flatMap((change) => writesOf(session.shop, change));
    const optionalFields = {
      ...(lid === undefined ? {} : { lid }),
      ...(hasChat === undefined ? {} : { hasChat }),
    };
    this.#forward(shopId, { type: 'session.prepared', generation, messageId, writes, ...optionalFields });
  }

  #onOutcome(report: Extract<SessionReport, { kind: 'outcome' }>): void {
    const { shopId, generation, attempt, messageId, outcome } = report;
    const session = this.#sessions.get(shopId);
    if (session === undefined) return;
    if (session.isOpen(messageId, attempt)) {
      session.settle(messageId, outcome);
      this.#reportOutcome(session, { generation, messageId, outcome });
    } else if (outcome.kind === 'rate_limited') {
      this.#reportOutcome(session, { generation, messageId, outcome, isLate: true });
    }
  }

  #forward(shopId: string, event: SessionEvent & { generation: number }): void {
    const session = this.#sessions.get(shopId);
    if (session === undefined || event.generation !== session.generation || session.isClosing) return;
    noteEvent(this.#notes, session, event);
    if (event.type === 'session.closed' && event.end === 'outdated') this.#networkVersion.onRefused();
    this.#report(session.shop, event);
  }

  #onClosed(shopId: string, generation: number): void {
    const session = this.#sessions.get(shopId);
    if (session?.isClosing === true && session.generation === generation) this.#sessions.delete(shopId);
  }

  #onWorkerLost(worker: number, detail: string): void {
    this.#questions.onWorkerLost(worker);
    for (const [shopId, session] of this.#sessions) {
      if (session.worker !== worker) continue;
      session.worker = undefined;
      this.#settleOrders(session);
      if (session.isClosing) {
        this.#sessions.delete(shopId);
        continue;
      }
      if (session.state === 'ended' || this.#awaiting.has(shopId)) continue;
      session.enter('ended');
      this.#counters.countEnd('worker_lost');
      this.#report(session.shop, { type: 'session.worker_lost', generation: session.generation, detail });
    }
    this.#openAwaiting();
  }

  #settleOrders(session: HostedSession): void {
    for (const settledOrder of session.settleAll()) this.#reportOutcome(session, settledOrder);
  }

  #reportOutcome(session: HostedSession, settledOrder: SettledOrder & { readonly isLate?: true }): void {
    noteOutcome(this.#notes, session, settledOrder);
    this.#report(session.shop, { type: 'session.send_outcome', ...settledOrder });
  }

  #toAll(event: SessionEvent): void {
    for (const { shop } of this.#sessions.values()) this.#report(shop, event);
  }

  #report(shop: SessionAddress, event: SessionEvent): void {
    this.#options.listener(shop, event);
  }

  #reportSoon(shop: SessionAddress, event: SessionEvent): void {
    this.#options.clock.after(0, () => this.#report(shop, event));
  }
}
