import { type Address, shardKey } from '../../runtime/address.ts';
import type { Behaviour } from '../../runtime/behaviour.ts';
import { assembleNode, type RuntimeNode } from '../../runtime/node/node.ts';
import type { Random } from '../../runtime/random.ts';
import { FakeClock, ProcessClock } from '../testbed/fake-clock.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import type { PerformedEffect, RunRecord } from './history-checker.ts';
import { type CallOutcome, MemoryEngine } from './memory-engine.ts';
import { MemoryRedis } from './memory-redis.ts';
import { TEST_CIPHERS } from './test-ciphers.ts';

/** The part that is broken on purpose, to test the checker. */
export type Sabotage = 'none' | 'no fence' | 'effect before commit';

/** How much happened. A run in which nothing happened tested nothing. */
export interface SimulationResult extends RunRecord {
  readonly takeOvers: number;
  readonly unanswered: readonly string[];
}

interface Process {
  readonly node: RuntimeNode;
  readonly clock: ProcessClock;
  readonly engine: MemoryEngine;
  readonly nodeId: string;
  troubled: boolean;
}

/** The number of shards. It is small, so that a world costs little and each shard is busy when its owner changes. */
const shardCount = 4;

/** A small world: nodes on one Redis, with clients, pauses, cuts, kills and clock steps. */
class Simulation {
  readonly #random: Random;
  readonly #clock = new FakeClock();
  readonly #redis = new MemoryRedis(this.#clock, shardCount);
  readonly #sabotage: Sabotage;
  readonly #effects: PerformedEffect[] = [];
  readonly #acknowledged: string[] = [];
  readonly #sent: string[] = [];
  /** Commands without an answer, and the clock of the process that got each. */
  readonly #open = new Map<string, ProcessClock>();
  /** Processes that were started under a node id. */
  readonly #starts = new Map<string, number>();
  /** Nodes that stopped because another one had their name, although none had it. */
  readonly #wronglyLost: string[] = [];
  #processes: Process[] = [];
  #faultShare = 0;

  constructor(seed: number, sabotage: Sabotage) {
    this.#random = seededRandom(seed);
    this.#sabotage = sabotage;
    this.#redis.isFenced = sabotage !== 'no fence';
  }

  async run(steps: number): Promise<SimulationResult> {
    for (const nodeId of ['a', 'b']) await this.#start(nodeId);
    await this.#clock.advance(1_000);
    this.#faultShare = this.#random() < 0.3 ? 0 : this.#random() * 0.15;
    for (let step = 0; step < steps; step += 1) {
      const asks = Math.floor(this.#random() * 6);
      for (let index = 0; index < asks; index += 1) this.#ask();
      // More commands and trouble come while commits are under way.
      await this.#clock.advance(Math.floor(this.#random() * 10));
      if (this.#random() < 0.5) this.#ask();
      await this.#disturb();
      await this.#clock.advance(Math.floor(this.#random() * 200));
    }
    const unanswered = await this.#heal();
    for (const process of this.#processes) process.clock.kill();
    return {
      redis: this.#redis,
      effects: this.#effects,
      acknowledged: this.#acknowledged,
      sent: this.#sent,
      takeOvers: this.#redis.records().reduce((sum, record) => sum + record.epoch, 0) - shardCount,
      unanswered,
    };
  }

  async #start(nodeId: string): Promise<void> {
    this.#launch(nodeId);
    await this.#clock.advance(20);
  }

  #launch(nodeId: string): void {
    this.#starts.set(nodeId, (this.#starts.get(nodeId) ?? 0) + 1);
    const clock = new ProcessClock(this.#clock);
    const engine = new MemoryEngine(this.#redis, {
      clock,
      network: this.#clock,
      outcome: () => this.#outcome(),
      delayMs: () => 1 + Math.floor(this.#random() * 4),
    });
    const node = assembleNode(engine, {
      nodeId,
      clock,
      random: this.#random,
      log: new QuietLog(),
      ...TEST_CIPHERS,
      limits: { leaseMs: 1_000, renewEveryMs: 300, claimEveryMs: 400, settleMs: 200, answerMs: 300 },
      afterTick: (callback) => void clock.after(0, callback),
      // Another process started under its node id; it has ended itself.
      onLost: () => {
        if (this.#starts.get(nodeId) === 1) this.#wronglyLost.push(`${nodeId} was superseded by nobody`);
        this.#leave(clock);
      },
    });
    node.register(this.#behaviour(node, clock));
    this.#processes.push({ node, clock, engine, nodeId, troubled: false });
    // A process whose start fails ends. If it was the only one, it is started again.
    node.run().catch(() => {
      clock.kill();
      engine.cut();
      this.#leave(clock);
      if (this.#processes.length === 0) this.#launch(nodeId);
    });
  }

  #outcome(): CallOutcome {
    if (this.#random() >= this.#faultShare) return 'arrives';
    const outcomes: CallOutcome[] = ['lost_reply', 'late', 'never', 'refused'];
    return outcomes[Math.floor(this.#random() * outcomes.length)] ?? 'arrives';
  }

  /** Each command adds its id to a set. Its effect is noted with its time. */
  #behaviour(node: RuntimeNode, clock: ProcessClock): Behaviour<number, { id: string }, string> {
    const perform = (id: string, { shard }: Address): void => {
      if (clock.isKilled) return;
      const isOwner = this.#redis.records()[shard]?.owner === node.incarnation;
      this.#effects.push({ sequence: this.#redis.nextSequence(), id, isOwner });
    };
    return {
      kind: 'log',
      load: async () => 0,
      readFacts: () => undefined,
      turn: (state, command, { address }) => {
        const { id } = command as { id: string };
        if (this.#sabotage === 'effect before commit') perform(id, address);
        return {
          state: state + 1,
          writes: [['SADD', shardKey(address.shard, 'commands', address.id), id]],
          effects: this.#sabotage === 'effect before commit' ? [] : [id],
          reply: id,
        };
      },
      lane: () => 'client',
      size: () => 10,
      perform,
      timers: () => [],
      mustLive: (state) => state % 3 === 1,
      activated: () => ({}),
      deactivated: () => undefined,
      describe: (state) => ({ state }),
    };
  }

  #ask(): void {
    const process = this.#pick(this.#processes);
    if (process === undefined || process.clock.isKilled) return;
    const shard = Math.floor(this.#random() * shardCount);
    const address: Address = { shard, kind: 'log', id: String(Math.floor(this.#random() * 3)) };
    const id = `c${this.#sent.length}`;
    this.#sent.push(id);
    this.#open.set(id, process.clock);
    process.clock.run(() => {
      process.node.actors.ask(address, { id }).then(
        () => {
          this.#open.delete(id);
          if (!process.clock.isKilled) this.#acknowledged.push(id);
        },
        // The command was refused, or its outcome is not known. The client may conclude nothing.
        () => this.#open.delete(id),
      );
    });
  }

  async #disturb(): Promise<void> {
    const process = this.#pick(this.#processes);
    if (process === undefined) return;
    const dice = this.#random();
    if (dice < 0.06) process.clock.pause();
    else if (dice < 0.16) process.clock.resume();
    else if (dice < 0.2) await this.#kill(process);
    else if (dice < 0.24) this.#stepClock(process);
    else if (dice < 0.27 && this.#processes.length < 4) await this.#start(`n${this.#sent.length}`);
    else if (dice < 0.3 && this.#processes.length > 1) this.#stop(process);
    else if (dice < 0.35) process.clock.putRight();
  }

  /** Returns a step of seconds or hours, forward or back. */
  #stepClock(process: Process): void {
    const mostMs = this.#random() < 0.5 ? 20_000 : 36_000_000;
    process.clock.stepWall(Math.round((this.#random() - 0.5) * mostMs));
  }

  /** Kills the process as by SIGKILL. Half of the time it is started again at once under its name. */
  async #kill(process: Process): Promise<void> {
    process.clock.kill();
    process.engine.cut();
    this.#leave(process.clock);
    if (this.#processes.length === 0 || this.#random() < 0.5) await this.#start(process.nodeId);
  }

  #stop(process: Process): void {
    this.#leave(process.clock);
    process.clock.run(() => void process.node.stop());
  }

  #leave(clock: ProcessClock): void {
    this.#processes = this.#processes.filter((process) => process.clock !== clock);
  }

  /**
   * Ends all trouble and checks that every shard has an owner again and every caller an answer. Returns those that do
   * not.
   */
  async #heal(): Promise<string[]> {
    this.#faultShare = 0;
    for (const process of this.#processes) {
      process.clock.resume();
      process.clock.putRight();
    }
    if (this.#processes.length === 0) await this.#start('z');
    const owners = (shard: number) => this.#processes.filter(({ node }) => node.actors.owns(shard));
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    const endMs = this.#clock.monotonicMs() + 8_000;
    while (this.#clock.monotonicMs() < endMs && shards.some((shard) => owners(shard).length !== 1))
      await this.#clock.advance(200);
    // Late answers have come now, and the leases of dead nodes have ended.
    await this.#clock.advance(1_500);
    const unanswered = new Set<string>();
    for (const shard of shards) {
      if (owners(shard).length !== 1) unanswered.add(`shard ${shard} has ${owners(shard).length} owners`);
      for (const { node } of owners(shard)) {
        const silent = `shard ${shard} does not answer`;
        unanswered.add(silent);
        const id = `last-${shard}`;
        node.actors.ask({ shard, kind: 'log', id: '0' }, { id }).then(
          () => unanswered.delete(silent),
          () => undefined,
        );
      }
    }
    await this.#clock.advance(1_000);
    const alive = new Set(this.#processes.map(({ clock }) => clock));
    for (const [id, clock] of this.#open) if (alive.has(clock)) unanswered.add(`${id} got no answer`);
    return [...unanswered, ...this.#wronglyLost];
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}

/** Runs one world from a seed. Runs with equal seeds are equal. */
export function simulate(
  seed: number,
  steps: number,
  sabotage: Sabotage = 'none',
): Promise<SimulationResult> {
  return new Simulation(seed, sabotage).run(steps);
}
