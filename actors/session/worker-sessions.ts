import { LiveSession } from './live-session.ts';
import { newShopMemory, type SessionEnvironment, type ShopMemory } from './session-environment.ts';
import type { SessionAddress } from './session-host.ts';
import type { ToWorker } from './worker-protocol.ts';

/** Handshakes under way at a time: a worker that comes back must not call for hundreds at once. */
const OPENING_AT_ONCE = 8;

interface Place {
  readonly memory: ShopMemory;
  session: LiveSession | undefined;
  generation: number;
}

/** The sessions of one worker, by shop. */
export class WorkerSessions {
  readonly #environment: SessionEnvironment;
  readonly #places = new Map<string, Place>();
  /** Sessions whose last writes are still under way. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #opening = new Set<LiveSession>();

  constructor(environment: SessionEnvironment) {
    this.#environment = environment;
  }

  /** Carries out an order about one shop's session. An order for a session that is not there is answered by the main thread. */
  handle(message: Exclude<ToWorker, { kind: 'ping' | 'stop' | 'store_answer' }>): void {
    if (message.kind === 'open') {
      this.#open(message.shop, message.generation);
      return;
    }
    const session = this.#places.get(message.shopId)?.session;
    switch (message.kind) {
      case 'close':
        void this.#close(message.shopId);
        break;
      case 'unlink':
        void this.#unlink(message.shopId);
        break;
      case 'check':
        void session?.check(message.messageId, message.to);
        break;
      case 'compose':
        void session?.compose(message.messageId, message.to, message.durationMs);
        break;
      case 'send':
        session?.send(message.order);
        break;
      case 'recall':
        session?.recall(message.messageId);
        break;
      case 'confirm':
        session?.confirm(message.token);
        break;
      case 'refresh_groups':
        session?.refreshGroups();
        break;
    }
  }

  /** Ends all sessions; resolves when their last writes are answered. */
  async stop(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all([...this.#places.values()].map((place) => place.session?.close()));
    this.#places.clear();
  }

  #open(shop: SessionAddress, generation: number): void {
    const place = this.#places.get(shop.shopId) ?? {
      memory: newShopMemory(this.#environment.clock),
      session: undefined,
      generation,
    };
    this.#places.set(shop.shopId, place);
    const before = place.session?.close() ?? this.#ending.get(shop.shopId) ?? Promise.resolve();
    const session: LiveSession = new LiveSession({
      environment: this.#environment,
      memory: place.memory,
      shop,
      generation,
      onSettled: () => this.#oneLess(session),
    });
    place.session = session;
    place.generation = generation;
    // The old socket ends before the new one opens: two on one identity knock each other out (BAILEYS.md: Disconnects).
    void before.then(() => this.#line(session));
  }

  #line(session: LiveSession): void {
    const begin = (): void => {
      this.#opening.add(session);
      void session.start();
    };
    if (this.#opening.size < OPENING_AT_ONCE) begin();
    else this.#waiting.push(begin);
  }

  #oneLess(session: LiveSession): void {
    if (this.#opening.delete(session)) this.#waiting.shift()?.();
  }

  async #close(shopId: string): Promise<void> {
    const place = this.#places.get(shopId);
    if (place === undefined) return;
    await this.#leave(shopId, place.session?.close());
    this.#environment.tell({ kind: 'closed', shopId, generation: place.generation });
  }

  async #unlink(shopId: string): Promise<void> {
    await this.#leave(shopId, this.#places.get(shopId)?.session?.unlink());
    this.#environment.tell({ kind: 'unlinked', shopId });
  }

  async #leave(shopId: string, ending: Promise<void> = Promise.resolve()): Promise<void> {
    this.#places.delete(shopId);
    this.#ending.set(shopId, ending);
    await ending;
    if (this.#ending.get(shopId) === ending) this.#ending.delete(shopId);
  }
}
