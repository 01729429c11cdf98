import type { WorkInProgress } from '../actor/actor-surroundings.ts';
import { Awakening } from '../actor/awakening.ts';
import { DeadLetterBox } from '../actor/dead-letter-box.ts';
import { LocalActors } from '../actor/local-actors.ts';
import { ShardMarks } from '../actor/shard-marks.ts';
import type { Actors } from '../actors.ts';
import { setShardCount } from '../address.ts';
import type { Behaviour } from '../behaviour.ts';
import type { ArmedTimer, Clock } from '../clock.ts';
import type { DeadLetters } from '../dead-letters.ts';
import type { Engine, ServerState } from '../engine.ts';
import { DEFAULT_LIMITS, type RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { type RuntimeCounters, type RuntimeObserver, runtimeCounters } from '../observer.ts';
import { AgreedClock } from '../ownership/agreed-clock.ts';
import { GroupCommit } from '../ownership/group-commit.ts';
import { NodeStore } from '../ownership/node-store.ts';
import { Ownership } from '../ownership/ownership.ts';
import { type NodeView, nodeIdOf, type ShardView } from '../ownership/ownership-view.ts';
import type { Random } from '../random.ts';
import { installedShards } from '../redis/installed-shards.ts';
import { type Durability, RedisEngine } from '../redis/redis-engine.ts';
import { SteppedClock } from '../stepped-clock.ts';
import type { Store } from '../store.ts';
import type { TextCipher } from '../text-cipher.ts';
import { type NodeLink, RedisLink } from './node-link.ts';

/** Node ids are one word, because records and channels are split at spaces. */
const NODE_ID_SHAPE = /^[\w.-]{1,64}$/;

/**
 * Sweeps after which a shard's collection memory is dropped. Redis expires keys without a commit, so memory would
 * otherwise show them permanently. With `passivateEveryMs` of 10 s an expired record is shown for up to eleven minutes.
 * These sweeps also drop dead letters that are too old.
 */
const FORGETTING_SWEEPS = 64;

export interface NodeOptions {
  /** See `parseRedisAddress`. */
  readonly redisUrl: string;
  /** The servers that must have a commit before its effects and its reply happen. By default, the master alone. */
  readonly durability?: Durability | undefined;
  /**
   * The number of shards that the data must have, or gets if there is no data yet. By default, the number in Redis, or
   * 128.
   */
  readonly shards?: number | undefined;
  /** The node's name. A process that runs under a name supersedes the earlier one. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly limits?: Partial<RuntimeLimits>;
  readonly observer?: RuntimeObserver;
  /** Seals the commands of dead letters. */
  readonly deadLetterCipher: TextCipher;
  /** Seals the messages between nodes, with the same secrets at all of them. */
  readonly linkCipher: TextCipher;
  /**
   * Called if another process runs under this node id. All actors were stopped, so exit. A lease that merely ended is
   * taken again, under a new incarnation. Actors whose shards no other node took continue.
   */
  readonly onLost?: () => void;
}

/** The options of a node whose engine exists already; tests pass their own. */
export interface AssemblyOptions extends Omit<NodeOptions, 'redisUrl' | 'durability' | 'shards'> {
  /** Calls back at the end of the current turn of the event loop. */
  readonly afterTick?: (callback: () => void) => void;
}

/** A node of the runtime. */
export interface RuntimeNode {
  readonly nodeId: string;
  /** This life of the node; another one after a lost lease. */
  readonly incarnation: string;
  readonly actors: Actors;
  readonly store: Store;
  readonly link: NodeLink;
  readonly deadLetters: DeadLetters;
  readonly counters: Readonly<RuntimeCounters>;
  /** Makes a kind of actor known; before `run`. */
  register<State, Command, Effect, Facts>(behaviour: Behaviour<State, Command, Effect, Facts>): void;
  /**
   * Takes the lease and claims this node's share. Resolves after the first round: alone it then owns every shard,
   * unless Redis failed meanwhile. Rejects if Redis gives no lease; stop the node then.
   */
  run(): Promise<void>;
  nodes(): readonly NodeView[];
  shards(): readonly ShardView[];
  /** This node's time, for all that is decided or stored: never ahead of Redis' when the two disagree. */
  readonly clock: Clock;
  /**
   * A clock with the same time, for work that no caller waits for. Its timers fire together, up to
   * `RuntimeLimits.stepMs` late. After a step of wall time they all fire at once, within about `claimEveryMs`, so a
   * wait for a moment compares the time.
   */
  readonly steppedClock: SteppedClock;
  /** Milliseconds by which this node's own clock is ahead of Redis'. The value is negative if it is behind. */
  clockAheadMs(): number;
  /** The servers of the store at the last check that Redis answered. Empty before the first. */
  storeServers(): readonly ServerState[];
  /** The remaining validity of the lease in milliseconds, or 0 if it is not valid. */
  leaseMarginMs(): number;
  /** True if the lease is valid and Redis is connected. */
  isReady(): boolean;
  /** True if too many turns are under way, or a commit takes too long. Client commands are then refused. */
  isBusy(): boolean;
  /**
   * Hands every shard over, within about `settleMs` and `answerMs`, and ends the lease. The node then owns nothing.
   * Until it is stopped, it still receives messages from other nodes and calls them.
   */
  handOver(): Promise<void>;
  /** Hands every shard over, unless that was done, and ends the connections even if that rejects. Rejects then too. */
  stop(): Promise<void>;
}

/**
 * Connects. Rejects if Redis is not reachable, lacks what each start requires (`refuseUnsafe`), or has another number
 * of shards. Until `run`, it has no lease and owns nothing, so the other nodes do not count it.
 */
export async function startNode(options: NodeOptions): Promise<RuntimeNode> {
  const { redisUrl, log, clock, limits, durability } = options;
  const { answerMs } = { ...DEFAULT_LIMITS, ...limits };
  const engine = await RedisEngine.connect(redisUrl, { log, clock, answerMs, durability });
  try {
    setShardCount(await installedShards(engine, options.shards));
    return assembleNode(engine, options);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Like `startNode` over an existing engine, which the node closes when it stops. */
export function assembleNode(engine: Engine, options: AssemblyOptions): RuntimeNode {
  if (!NODE_ID_SHAPE.test(options.nodeId))
    throw new Error('a node id is 1 to 64 letters, digits, dots, dashes or underscores');
  return new AssembledNode(engine, options);
}

/** Composes the parts of a node; each is given only the calls of the others that it uses. */
class AssembledNode implements RuntimeNode {
  readonly nodeId: string;
  readonly actors: LocalActors;
  readonly store: NodeStore;
  readonly link: RedisLink;
  readonly deadLetters: DeadLetterBox;
  readonly counters = runtimeCounters();
  readonly clock: AgreedClock;
  readonly steppedClock: SteppedClock;
  readonly #engine: Engine;
  readonly #limits: RuntimeLimits;
  readonly #ownership: Ownership;
  readonly #commits: GroupCommit;
  readonly #inProgress: WorkInProgress = { turns: 0 };
  #sweep: ArmedTimer | undefined;
  #sweeps = 0;
  #leaving: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  // The parts call each other only later, so some closures name parts that are made below them.
  constructor(engine: Engine, options: AssemblyOptions) {
    const { nodeId, random, log, observer, onLost } = options;
    const afterTick = options.afterTick ?? ((callback: () => void) => void setImmediate(callback));
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const clock = new AgreedClock(options.clock, limits.clockToleranceMs, () => steppedClock.fireAll());
    const steppedClock: SteppedClock = new SteppedClock(clock, limits.stepMs, afterTick);
    const commonOptions = {
      nodeId,
      engine,
      clock,
      random,
      limits,
      log,
      observer,
      counters: this.counters,
      afterTick,
    };
    this.nodeId = nodeId;
    this.#engine = engine;
    this.clock = clock;
    this.steppedClock = steppedClock;
    this.#limits = limits;
    const ownership = new Ownership({
      ...commonOptions,
      commits: () => commits,
      onClaimed: (shard) => awakening.add(shard),
      onIncarnation: (incarnation) => this.link.listen(incarnation),
      onSuperseded: () => void this.close().then(() => onLost?.()),
    });
    this.#ownership = ownership;
    const commits: GroupCommit = new GroupCommit({
      ...commonOptions,
      steppedClock,
      leaseHolds: () => ownership.lease.holds(),
      onFenced: (shard, actual) => ownership.onFenced(shard, actual),
      onDoubt: (shard) => void ownership.settle(shard),
    });
    this.#commits = commits;
    const ownedShard = (number: number) => ownership.shard(number);
    const store = new NodeStore(engine, commits, ownedShard);
    this.store = store;
    this.deadLetters = new DeadLetterBox({
      ...commonOptions,
      store,
      commits,
      cipher: options.deadLetterCipher,
      ask: (address, command) => this.actors.replay(address, command),
    });
    this.actors = new LocalActors({
      nodeId,
      shard: ownedShard,
      shards: () => ownership.shards(),
      storeIsFull: () => ownership.servers.some(({ memoryUse }) => memoryUse >= limits.memoryShare),
      isBusy: () => this.isBusy(),
      surroundings: {
        ...commonOptions,
        steppedClock,
        inProgress: this.#inProgress,
        store,
        commits,
        marks: new ShardMarks({ ...commonOptions, commits }),
        mayAct: (shard) => ownership.mayAct(shard),
        deadLetter: (shard, address, command, cause) =>
          this.deadLetters.deadLetter(shard, address, command, cause),
      },
    });
    this.link = new RedisLink({
      ...commonOptions,
      cipher: options.linkCipher,
      view: ownership.view,
      onMissed: () => void ownership.check(),
    });
    const awakening = new Awakening(clock, limits, (shard, text) => this.actors.awaken(shard, text));
  }

  get incarnation(): string {
    return this.#ownership.incarnation;
  }

  register<State, Command, Effect, Facts>(behaviour: Behaviour<State, Command, Effect, Facts>): void {
    this.actors.register(behaviour);
  }

  async run(): Promise<void> {
    await this.#ownership.run();
    this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweep = this.clock.after(this.#limits.passivateEveryMs, () => {
      this.actors.passivateIdle();
      this.#sweeps += 1;
      const shardsToSweep = [...this.#ownership.shards()].filter(
        ({ number }) => number % FORGETTING_SWEEPS === this.#sweeps % FORGETTING_SWEEPS,
      );
      for (const { memory } of shardsToSweep) memory.clear();
      if (shardsToSweep.length > 0) void this.deadLetters.forgetOld(shardsToSweep);
      this.#sweepLater();
    });
  }

  nodes(): readonly NodeView[] {
    const { view, incarnation: ownIncarnation } = this.#ownership;
    return view.nodes.map(({ nodeId, incarnation }) => ({
      nodeId,
      incarnation,
      shards: view.records.filter((record) => record.owner === incarnation).length,
      isSelf: incarnation === ownIncarnation,
    }));
  }

  shards(): readonly ShardView[] {
    return this.#ownership.view.records.map(({ owner, epoch }, shard) => ({
      shard,
      owner: owner === undefined ? undefined : { nodeId: nodeIdOf(owner), incarnation: owner },
      epoch,
      isMine: this.#ownership.shard(shard) !== undefined,
    }));
  }

  clockAheadMs(): number {
    return this.clock.aheadMs();
  }

  storeServers(): readonly ServerState[] {
    return this.#ownership.servers;
  }

  leaseMarginMs(): number {
    return this.#ownership.lease.marginMs();
  }

  isReady(): boolean {
    return this.#ownership.lease.holds() && this.#engine.isAvailable();
  }

  isBusy(): boolean {
    const { turnsInProgress, commitAgeMs } = this.#limits;
    return this.#inProgress.turns >= turnsInProgress || this.#commits.owedForMs() > commitAgeMs;
  }

  handOver(): Promise<void> {
    this.#leaving ??= this.#ownership.stop();
    return this.#leaving;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#handOverAndClose();
    return this.#stopping;
  }

  async #handOverAndClose(): Promise<void> {
    try {
      await this.handOver();
    } finally {
      await this.close();
    }
  }

  /** Ends timers, calls and connections, without handing anything over. */
  async close(): Promise<void> {
    this.#sweep?.cancel();
    this.#ownership.lease.stop();
    this.link.close();
    await this.#engine.close();
  }
}
