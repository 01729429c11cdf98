import type { Clock } from '../../runtime/clock.ts';
import {
  type CommitSection,
  type Engine,
  LATER_PROCESS,
  type NodeRecord,
  type SectionOutcome,
  type ServerState,
  type ShardRecord,
} from '../../runtime/engine.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { Read, RedisCommand, RepliesTo } from '../../runtime/store.ts';
import type { MemoryRedis } from './memory-redis.ts';

/**
 * The fate of one call. `arrives`: it happens. `lost_reply`: it happens, and the reply is lost. `late`: the caller
 * gives up, and it happens afterwards. `never`: it does not happen, and the caller cannot know. `refused`: it does not
 * happen, and the caller knows.
 */
export type CallOutcome = 'arrives' | 'lost_reply' | 'late' | 'never' | 'refused';

/**
 * One process's connections to a `MemoryRedis`, with the faults that a test sets. Its calls reply as those of
 * `RedisEngine` (`engine-conformance.test.ts`).
 */
export class MemoryEngine implements Engine {
  readonly #redis: MemoryRedis;
  readonly #clock: Clock;
  readonly #network: Clock;
  readonly #outcome: () => CallOutcome;
  readonly #delayMs: () => number;
  readonly #listeners = new Map<string, (message: string) => void>();
  /** The number of calls to `commit`, for tests that count groups. */
  commits = 0;
  /** The used part of the memory of Redis. */
  memoryShare = 0;
  #isClosed = false;

  constructor(
    redis: MemoryRedis,
    options: {
      readonly clock: Clock;
      readonly network?: Clock;
      readonly outcome?: () => CallOutcome;
      readonly delayMs?: () => number;
    },
  ) {
    this.#redis = redis;
    this.#clock = options.clock;
    this.#network = options.network ?? options.clock;
    this.#outcome = options.outcome ?? (() => 'arrives');
    this.#delayMs = options.delayMs ?? (() => 1);
  }

  async commit(sections: readonly CommitSection[]): Promise<SectionOutcome[]> {
    this.commits += 1;
    try {
      return await this.#call(() => this.#redis.commit(sections));
    } catch (error) {
      const code = (error as RuntimeFailure).code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'unavailable';
      return sections.map(() => ({ code, message: 'injected' }));
    }
  }

  async read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    return (await this.#read(() => this.#runAll(reads))) as RepliesTo<Reads>;
  }

  /** A commit is on all servers at once. */
  readConfirmed<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    return this.read(reads);
  }

  /** The memory stores texts. So bytes that are no UTF-8 are not read as they were written. */
  async readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>> {
    return (await this.read(reads)).map(asBytes) as RepliesTo<Reads, Buffer>;
  }

  append(writes: readonly RedisCommand[]): Promise<unknown[]> {
    return this.#call(() => this.#runAll(writes));
  }

  /** Runs all commands, and then throws the first error. */
  #runAll(commands: readonly RedisCommand[]): unknown[] {
    const errors: unknown[] = [];
    const replies = commands.map((command) => {
      try {
        return this.#redis.run(command);
      } catch (error) {
        errors.push(error);
        return undefined;
      }
    });
    if (errors.length > 0) throw errors[0];
    return replies;
  }

  /** Like `#call`, for reads. They change nothing, so no outcome is unknown. */
  async #read<Answer>(run: () => Answer): Promise<Answer> {
    try {
      return await this.#call(run);
    } catch (error) {
      if (error instanceof RuntimeFailure) throw new RuntimeFailure('STORE_UNAVAILABLE', error.message);
      throw error;
    }
  }

  async register(nodeId: string, incarnation: string, leaseMs: number): Promise<void> {
    const ticket = await this.#call(() => this.#redis.ticket());
    const isDone = await this.#call(() => this.#redis.register(nodeId, incarnation, leaseMs, ticket));
    if (!isDone) throw new RuntimeFailure('STORE_UNAVAILABLE', LATER_PROCESS);
  }

  renew(nodeId: string, incarnation: string, leaseMs: number): Promise<boolean> {
    return this.#call(() => this.#redis.renew(nodeId, incarnation, leaseMs));
  }

  resign(nodeId: string, incarnation: string): Promise<void> {
    return this.#call(() => this.#redis.resign(nodeId, incarnation));
  }

  nodes(): Promise<NodeRecord[]> {
    return this.#read(() => this.#redis.nodes());
  }

  records(): Promise<ShardRecord[]> {
    return this.#read(() => this.#redis.records());
  }

  changeOwner(
    shard: number,
    epoch: number,
    owner: string | undefined,
  ): Promise<{ readonly isChanged: boolean; readonly record: ShardRecord }> {
    return this.#call(() => this.#redis.changeOwner(shard, epoch, owner));
  }

  publish(channel: string, message: string): Promise<number | undefined> {
    return this.#call(() => {
      const listeners = this.#redis.listeners.get(channel) ?? new Set();
      for (const listener of listeners) listener(channel, message);
      return listeners.size;
    });
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    if (this.#isClosed) throw new RuntimeFailure('STORE_UNAVAILABLE', 'closed');
    this.#listeners.set(channel, listener);
    const receivers = this.#redis.listeners.get(channel) ?? new Set();
    this.#redis.listeners.set(channel, receivers.add(this.#receive));
  }

  unsubscribe(channel: string): void {
    this.#listeners.delete(channel);
    this.#redis.listeners.get(channel)?.delete(this.#receive);
  }

  /** Looks the listener up when the message arrives, because it may have changed or gone meanwhile. */
  readonly #receive = (channel: string, message: string): void => {
    this.#clock.after(this.#delayMs(), () => this.#listeners.get(channel)?.(message));
  };

  timeMs(): Promise<number> {
    return this.#read(() => this.#redis.timeMs());
  }

  servers(): Promise<readonly ServerState[]> {
    return this.#read(() => [
      {
        name: 'memory',
        version: '7.0.0',
        isMaster: true,
        memoryUse: this.memoryShare,
        evictionPolicy: 'noeviction',
        isAppendOnly: true,
        writesToDisk: true,
        replicas: 0,
        waitsForReplicas: false,
      },
    ]);
  }

  isAvailable(): boolean {
    return !this.#isClosed;
  }

  onAvailable(): void {
    // The engine is available until it is closed.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.cut();
  }

  /** Lets nothing reach this engine any more, as if its process was gone. */
  cut(): void {
    for (const channel of this.#listeners.keys()) this.unsubscribe(channel);
  }

  /** Sends one call and returns its answer, each after a delay, or not at all, by its outcome. */
  #call<Answer>(run: () => Answer): Promise<Answer> {
    const outcome = this.#isClosed ? 'refused' : this.#outcome();
    return new Promise((resolve, reject) => {
      const answer = (deliver: () => void) => void this.#clock.after(this.#delayMs(), deliver);
      /** Runs the call. Returns a function that delivers its answer or its error. */
      const happen = (): (() => void) => {
        try {
          const happened = run();
          return () => resolve(happened);
        } catch (error) {
          return () => reject(error);
        }
      };
      const unknown = () => answer(() => reject(new RuntimeFailure('OUTCOME_UNKNOWN', 'injected')));
      if (outcome === 'refused') {
        answer(() => reject(new RuntimeFailure('STORE_UNAVAILABLE', 'injected')));
      } else if (outcome === 'never') {
        unknown();
      } else if (outcome === 'late') {
        unknown();
        // The call is on the network, so it arrives even if the process ends.
        this.#network.after(this.#delayMs() * 20, () => void happen());
      } else {
        const deliver = happen();
        if (outcome === 'lost_reply') unknown();
        else answer(deliver);
      }
    });
  }
}

/** Returns a reply with bytes in place of each text. */
function asBytes(reply: unknown): unknown {
  if (typeof reply === 'string') return Buffer.from(reply);
  return Array.isArray(reply) ? reply.map(asBytes) : reply;
}
