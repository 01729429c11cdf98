import type { SessionAddress } from '../session-host.ts';
import type { WorkerCommand, WorkerOpening } from '../worker-protocol.ts';
import { OpeningQueue } from './connection/opening-queue.ts';
import { LiveSession } from './live-session.ts';
import { newShopMemory, type SessionEnvironment, type ShopMemory } from './shared/session-environment.ts';

/** A shop's present session, and the memory that its next session takes over. */
interface ShopEntry {
  readonly memory: ShopMemory;
  session: LiveSession | undefined;
  opening: WorkerOpening;
}

/** The sessions of one worker, at most one open session for each shop. */
export class WorkerSessions {
  readonly #environment: SessionEnvironment;
  readonly #shops = new Map<string, ShopEntry>();
  /** The promises, by shop, that resolve when the last writes of all its sessions so far are answered. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #opening: OpeningQueue;

  constructor(environment: SessionEnvironment) {
    this.#environment = environment;
    this.#opening = new OpeningQueue(environment.clock, environment.busyShare);
  }

  /**
   * Carries out a command of the main thread about one shop's session. The main thread itself ends the orders of a shop
   * without a session.
   */
  handle(command: Exclude<WorkerCommand, { kind: 'ping' | 'stop' | 'store_answer' }>): void {
    if (command.kind === 'open') {
      this.#open(command.shop, command.opening);
      return;
    }
    const session = this.#shops.get(command.shopId)?.session;
    switch (command.kind) {
      case 'close':
        void this.#close(command.shopId);
        break;
      case 'unlink':
        void this.#unlink(command.shopId, command.questionId);
        break;
      case 'prepare':
        session?.prepare(command);
        break;
      case 'order':
        session?.carryOut(command.order);
        break;
      case 'file_hosts':
        void this.#reportFileHosts(command.questionId, session);
        break;
      default:
        command satisfies never;
    }
  }

  /**
   * Ends each order that fetches or uploads an attachment. One of their files could not be written, and it is not known
   * whose.
   */
  returnAttachments(): void {
    for (const { session } of this.#shops.values()) session?.returnAttachments();
  }

  /** Ends all sessions; resolves when their last writes are answered. */
  async stop(): Promise<void> {
    this.#opening.clear();
    for (const { memory } of this.#shops.values()) memory.unacknowledged.giveUp();
    const closing = [...this.#shops.values()].map((entry) => entry.session?.close());
    await Promise.all([...closing, ...this.#ending.values()]);
    this.#shops.clear();
  }

  async #reportFileHosts(questionId: number, session: LiveSession | undefined): Promise<void> {
    this.#environment.post({ kind: 'answer', questionId, answer: await session?.fileHosts() });
  }

  #open(shop: SessionAddress, opening: WorkerOpening): void {
    const entry: ShopEntry = this.#shops.get(shop.shopId) ?? {
      memory: newShopMemory(this.#environment.clock, this.#environment.timing),
      session: undefined,
      opening,
    };
    this.#shops.set(shop.shopId, entry);
    // A session that only changes its egress keeps its orders without an outcome.
    const comesBack = entry.opening.egress !== opening.egress;
    const endingBefore = this.#whenEnded(shop.shopId, entry.session?.close({ comesBack }));
    const facts = { environment: this.#environment, memory: entry.memory, shop, opening };
    const session: LiveSession = new LiveSession(facts, () => this.#opening.leave(session));
    entry.session = session;
    entry.opening = opening;
    // The old socket ends before the new one opens: two on one identity end each other (docs/chat-client.md,
    // Disconnects).
    void endingBefore.then(() => this.#opening.enter(session, () => void session.start()));
  }

  async #close(shopId: string): Promise<void> {
    const entry = this.#shops.get(shopId);
    if (entry === undefined) return;
    this.#shops.delete(shopId);
    entry.memory.unacknowledged.giveUp();
    await this.#whenEnded(shopId, entry.session?.close());
    this.#environment.post({ kind: 'closed', shopId, generation: entry.opening.generation });
  }

  async #unlink(shopId: string, questionId: number): Promise<void> {
    const entry = this.#shops.get(shopId);
    entry?.memory.unacknowledged.giveUp();
    const ending = entry?.session?.unlink();
    this.#shops.delete(shopId);
    await this.#whenEnded(shopId, ending);
    this.#environment.post({ kind: 'answer', questionId, answer: undefined });
  }

  /** Resolves when the session that ends now has ended, and all those of the shop that were ending before it. */
  #whenEnded(shopId: string, ending: Promise<void> | undefined): Promise<void> {
    const endingBefore = this.#ending.get(shopId);
    if (ending === undefined) return endingBefore ?? Promise.resolve();
    const bothEnded = Promise.all([endingBefore, ending]).then(() => {
      if (this.#ending.get(shopId) === bothEnded) this.#ending.delete(shopId);
    });
    this.#ending.set(shopId, bothEnded);
    return bothEnded;
  }
}
