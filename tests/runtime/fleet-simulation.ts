import { forgetShardCount, setShardCount } from '../../runtime/address.ts';
import type { ShardRecord } from '../../runtime/engine.ts';
import { assembleNode, type RuntimeNode } from '../../runtime/node/node.ts';
import type { Random } from '../../runtime/random.ts';
import type { Read, RepliesTo } from '../../runtime/store.ts';
import { FakeClock, ProcessClock } from '../testbed/fake-clock.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { MemoryEngine } from './memory-engine.ts';
import { MemoryRedis } from './memory-redis.ts';
import { TEST_CIPHERS } from './test-ciphers.ts';

/** Commands that reached Redis, as `RedisEngine` sends them to one server. */
interface Commands {
  count: number;
}

/** An engine that counts its commands. */
class CountedEngine extends MemoryEngine {
  readonly #commands: Commands;

  constructor(redis: MemoryRedis, clock: ProcessClock, commands: Commands) {
    super(redis, { clock });
    this.#commands = commands;
  }

  override register(nodeId: string, incarnation: string, leaseMs: number): Promise<void> {
    this.#commands.count += 2;
    return super.register(nodeId, incarnation, leaseMs);
  }

  override renew(nodeId: string, incarnation: string, leaseMs: number): Promise<boolean> {
    this.#commands.count += 1;
    return super.renew(nodeId, incarnation, leaseMs);
  }

  override resign(nodeId: string, incarnation: string): Promise<void> {
    this.#commands.count += 1;
    return super.resign(nodeId, incarnation);
  }

  /** One command for the names, and one for all leases. */
  override nodes() {
    this.#commands.count += 2;
    return super.nodes();
  }

  override records(): Promise<ShardRecord[]> {
    this.#commands.count += 1;
    return super.records();
  }

  override changeOwner(shard: number, epoch: number, owner: string | undefined) {
    this.#commands.count += 1;
    return super.changeOwner(shard, epoch, owner);
  }

  override read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    this.#commands.count += reads.length;
    return super.read(reads);
  }

  override publish(channel: string, message: string): Promise<number | undefined> {
    this.#commands.count += 1;
    return super.publish(channel, message);
  }

  override timeMs(): Promise<number> {
    this.#commands.count += 1;
    return super.timeMs();
  }

  override servers() {
    this.#commands.count += 1;
    return super.servers();
  }
}

interface Process {
  readonly node: RuntimeNode;
  readonly clock: ProcessClock;
  readonly engine: MemoryEngine;
}

/** The time from the start of a new node until an orchestrator ends an old one: two readiness probes. */
const READY_MS = 4_000;

/** The results of a phase, in virtual time. */
export interface Phase {
  /** The time until living nodes owned all shards. */
  readonly ownedMs: number;
  /** The time until no node had two shards more than another. */
  readonly evenMs: number;
  /** How many shards changed their owner. */
  readonly moves: number;
  /** The number of commands to Redis in the busiest second. */
  readonly mostCommands: number;
}

/** A fleet on one Redis in memory: the real ownership of shards, with no actors in them, in virtual time. */
export class FleetSimulation {
  readonly #clock = new FakeClock();
  readonly #redis: MemoryRedis;
  readonly #random: Random;
  readonly #commands: Commands = { count: 0 };
  readonly #processes = new Map<string, Process>();

  constructor(options: { readonly shards: number; readonly seed: number }) {
    forgetShardCount();
    setShardCount(options.shards);
    this.#redis = new MemoryRedis(this.#clock, options.shards);
    this.#random = seededRandom(options.seed);
  }

  /** Starts nodes, each at another moment within `overMs`. */
  start(nodeIds: readonly string[], overMs: number): Promise<Phase> {
    return this.#phase(async () => {
      await Promise.all(
        nodeIds.map(async (nodeId) => {
          await this.#pause(Math.floor(this.#random() * overMs));
          await this.#start(nodeId);
        }),
      );
    });
  }

  /** Kills nodes all at once. They send nothing more, and their leases expire. */
  kill(nodeIds: readonly string[]): Promise<Phase> {
    return this.#phase(async () => {
      for (const nodeId of nodeIds) {
        const process = this.#processes.get(nodeId);
        process?.clock.kill();
        process?.engine.cut();
        this.#processes.delete(nodeId);
      }
    });
  }

  /** Replaces nodes one after the other, the new one first, as a Deployment does. */
  roll(nodeIds: readonly string[]): Promise<Phase> {
    return this.#phase(async () => {
      for (const nodeId of nodeIds) {
        await this.#start(`${nodeId}-new`);
        await this.#pause(READY_MS);
        const oldProcess = this.#processes.get(nodeId);
        this.#processes.delete(nodeId);
        await oldProcess?.node.stop();
      }
    });
  }

  /** Returns the commands a second while nothing happens. */
  async restingCommands(seconds: number): Promise<number> {
    const countBefore = this.#commands.count;
    await this.#clock.advance(seconds * 1_000);
    return (this.#commands.count - countBefore) / seconds;
  }

  /** Ends all processes at once. */
  end(): void {
    for (const { clock } of this.#processes.values()) clock.kill();
  }

  async #start(nodeId: string): Promise<void> {
    const clock = new ProcessClock(this.#clock);
    const engine = new CountedEngine(this.#redis, clock, this.#commands);
    const node = assembleNode(engine, {
      nodeId,
      clock,
      random: this.#random,
      log: new QuietLog(),
      ...TEST_CIPHERS,
      afterTick: (callback) => void clock.after(0, callback),
    });
    this.#processes.set(nodeId, { node, clock, engine });
    await node.run();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  async #phase(happen: () => Promise<void>): Promise<Phase> {
    const startMs = this.#clock.monotonicMs();
    const epochs = this.#epochs();
    let mostCommands = 0;
    let ownedMs: number | undefined;
    let countBefore = this.#commands.count;
    let secondEndsMs = startMs + 1_000;
    let isOver = false;
    let happened = false;
    const happening = happen().then(() => {
      happened = true;
    });
    for (let waitedMs = 0; !isOver; waitedMs += 50) {
      if (waitedMs > 600_000) throw new Error('the shards were not spread within ten minutes');
      await this.#clock.advance(50);
      if (this.#clock.monotonicMs() >= secondEndsMs) {
        mostCommands = Math.max(mostCommands, this.#commands.count - countBefore);
        countBefore = this.#commands.count;
        secondEndsMs += 1_000;
      }
      if (!happened) continue;
      if (ownedMs === undefined && this.#isOwned()) ownedMs = this.#clock.monotonicMs() - startMs;
      isOver = ownedMs !== undefined && this.#isEven();
    }
    await happening;
    return {
      ownedMs: ownedMs ?? 0,
      evenMs: this.#clock.monotonicMs() - startMs,
      moves: this.#epochs() - epochs,
      mostCommands: Math.max(mostCommands, this.#commands.count - countBefore),
    };
  }

  #epochs(): number {
    return this.#redis.records().reduce((sum, { epoch }) => sum + epoch, 0);
  }

  #held(): number[] {
    return [...this.#processes.values()].map(
      ({ node }) => node.shards().filter(({ isMine }) => isMine).length,
    );
  }

  #isOwned(): boolean {
    const alive = new Set([...this.#processes.values()].map(({ node }) => node.incarnation));
    return this.#redis.records().every(({ owner }) => owner !== undefined && alive.has(owner));
  }

  #isEven(): boolean {
    if (!this.#isOwned()) return false;
    const held = this.#held();
    return Math.max(...held) - Math.min(...held) <= 1;
  }
}
