import { shardCount, shardKey } from '../address.ts';
import type { Clock } from '../clock.ts';
import {
  type CommitSection,
  type Engine,
  LATER_PROCESS,
  type NodeRecord,
  parseRecord,
  type SectionOutcome,
  type ServerState,
  type ShardRecord,
} from '../engine.ts';
import type { Logger } from '../logger.ts';
import { type LuaScript, readLuaScript } from '../lua-script.ts';
import { parseRedisAddress } from '../redis-address.ts';
import { outcomeUnknownFailure, RuntimeFailure, unavailableFailure } from '../runtime-failure.ts';
import type { Read, RedisArgument, RedisCommand, RepliesTo } from '../store.ts';
import { AssumptionWatch, parseServerState, refuseUnsafe } from '../store-assumptions.ts';
import { CommitTrouble } from './commit-trouble.ts';
import { LostMaster } from './lost-master.ts';
import { RedisBus } from './redis-bus.ts';
import { redisClient } from './redis-client.ts';
import { RedisConnection, type ReplyEncoding } from './redis-connection.ts';
import { failureOf, readFailureOf, refusalOf } from './redis-failure.ts';
import { layOut, turnsOf } from './section-layout.ts';

const NODES_KEY = '{runtime}:nodes';
const TICKETS_KEY = '{runtime}:tickets';
/** Nobody listens here. */
const WAIT_CHANNEL = '{runtime}:wait';

export interface RedisEngineOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** The longest time in which Redis may answer before a connection counts as dead. */
  readonly answerMs: number;
  /** The servers that must have a commit before its consequences happen. By default, the master alone. */
  readonly durability?: Durability | undefined;
}

/** The servers that must have a commit: the master alone, or a replica too. */
export type Durability = 'master' | 'replica';

/** How long a commit waits for a replica. Without one its outcome is unknown, until a replica has it. */
const REPLICA_MS = 1_000;
/** The reason of an unknown outcome, for the log and for callers. */
const NOT_REPLICATED = 'no replica of Redis confirmed a write';
/** The reason why a section was not sent, for the log and for callers. */
const NOT_LAID_OUT = 'a write of a shard could not be laid out';

/**
 * Redis as the runtime's engine, over three connections. Commits, leases and changes of owners use one, so nothing else
 * delays them. Reads, unfenced writes and published messages use the second. The third only receives messages.
 */
export class RedisEngine implements Engine {
  readonly #commits: RedisConnection;
  readonly #data: RedisConnection;
  readonly #bus: RedisBus;
  readonly #log: Logger;
  readonly #isCluster: boolean;
  readonly #durability: Durability;
  readonly #scripts = {
    commitShards: readLuaScript(new URL('./commit-shards.lua', import.meta.url)),
    changeOwner: readLuaScript(new URL('./change-owner.lua', import.meta.url)),
    takeTicket: readLuaScript(new URL('./take-ticket.lua', import.meta.url)),
    registerNode: readLuaScript(new URL('./register-node.lua', import.meta.url)),
    renewLease: readLuaScript(new URL('./renew-lease.lua', import.meta.url)),
    forgetNode: readLuaScript(new URL('./forget-node.lua', import.meta.url)),
  };
  readonly #trouble: CommitTrouble;
  readonly #lostMaster: LostMaster;
  readonly #assumptions: AssumptionWatch;
  /** The `WAIT` under way: whether a replica has the writes before it. */
  #replicaWait: Promise<boolean> | undefined;
  /** How often a group of commits was sent, and how many of the first of these a replica has. */
  #sentGroups = 0;
  /** True if the commits' connection wrote something since it was opened, so that a `WAIT` on it proves something. */
  #hasWritten = false;
  #replicatedGroups = 0;

  private constructor(url: string, options: RedisEngineOptions) {
    const address = parseRedisAddress(url);
    const connection = (name: string) =>
      new RedisConnection(redisClient(address, { name, answerMs: options.answerMs }));
    this.#trouble = new CommitTrouble(options.clock, options.log);
    this.#assumptions = new AssumptionWatch(options.log);
    this.#log = options.log;
    this.#isCluster = address.kind === 'cluster';
    this.#durability = options.durability ?? 'master';
    this.#commits = connection('commits');
    this.#data = connection('data');
    this.#commits.client.on('ready', () => {
      this.#hasWritten = false;
    });
    this.#bus = new RedisBus({ ...options, address });
    const reconnect = (): void => {
      // A cluster's client learns from its servers which one is the master.
      if (this.#isCluster) return;
      // All of them: reads and messages must come from the server that accepts the commits.
      for (const part of [this.#commits, this.#data, this.#bus]) part.renew();
    };
    this.#lostMaster = new LostMaster({ ...options, reconnect });
  }

  /** Connects, or rejects when Redis is not there or is not as it must be, with every reason. */
  static async connect(url: string, options: RedisEngineOptions): Promise<RedisEngine> {
    const engine = new RedisEngine(url, options);
    try {
      await Promise.all([engine.#commits.connect(), engine.#data.connect(), engine.#bus.connect()]);
      refuseUnsafe(await engine.#askServers());
    } catch (error) {
      await engine.close();
      throw error;
    }
    return engine;
  }

  async commit(sections: readonly CommitSection[]): Promise<SectionOutcome[]> {
    // A script's keys must share one slot in a cluster, and a shard is a slot.
    const calls = this.#isCluster ? sections.map((section) => [section]) : [sections];
    const outcomes = await Promise.all(calls.map((sectionsOfCall) => this.#commitInOneCall(sectionsOfCall)));
    return outcomes.flat();
  }

  async #commitInOneCall(sections: readonly CommitSection[]): Promise<SectionOutcome[]> {
    let call: ReturnType<typeof layOut>;
    try {
      call = layOut(sections);
    } catch (error) {
      // A defect, and nothing was sent. Each section then goes alone, so that the others are committed.
      if (sections.length > 1) {
        const outcomes = await Promise.all(sections.map((section) => this.#commitInOneCall([section])));
        return outcomes.flat();
      }
      this.#log.error({ err: error }, NOT_LAID_OUT);
      return sections.map(notLaidOut);
    }
    // The shard in a cluster; otherwise Redis is one part.
    const part = this.#isCluster ? (sections[0]?.shard ?? 0) : 0;
    try {
      const replies = await this.#commits.run(this.#scripts.commitShards, call.keys, call.args, () => {
        this.#sentGroups += 1;
      });
      this.#lostMaster.noteConfirmed('writes');
      const outcomes = sections.map((section, index) => outcomeOf(section, (replies as unknown[])[index]));
      if (!(await this.#isReplicated())) {
        this.#trouble.noteUnconfirmed(part, NOT_REPLICATED);
        return outcomes.map((outcome) =>
          outcome.code === 'committed' ? { code: 'unknown', message: NOT_REPLICATED } : outcome,
        );
      }
      this.#trouble.noteAccepted(part);
      return outcomes;
    } catch (error) {
      this.#lostMaster.writeFailed(error);
      const failure = failureOf(error);
      if (failure instanceof RuntimeFailure && failure.code === 'OUTCOME_UNKNOWN')
        return sections.map(() => ({ code: 'unknown', message: failure.message }));
      // A broken connection does not show what Redis would have answered.
      const refusal = refusalOf(error);
      if (refusal !== undefined) this.#trouble.noteRefused(part, refusal);
      return sections.map(() => ({ code: 'unavailable', message: failure.message }));
    }
  }

  read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    return this.#ask(reads, 'utf8') as Promise<RepliesTo<Reads>>;
  }

  async readConfirmed<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    const replies = await this.read(reads);
    if (this.#durability === 'master') return replies;
    const sentGroups = this.#sentGroups;
    // A `WAIT` that was under way says nothing about a commit behind it, so there may be a second one.
    while (this.#replicatedGroups < sentGroups)
      if (!(await this.#isReplicated())) throw unavailableFailure(NOT_REPLICATED);
    return replies;
  }

  readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>> {
    return this.#ask(reads, null) as Promise<RepliesTo<Reads, Buffer>>;
  }

  async append(writes: readonly RedisCommand[]): Promise<unknown[]> {
    try {
      return await Promise.all(writes.map(([name, ...args]) => this.#data.send(name, args)));
    } catch (error) {
      throw failureOf(error);
    }
  }

  async #ask(reads: readonly Read[], encoding: ReplyEncoding): Promise<unknown[]> {
    try {
      return await Promise.all(reads.map(([name, ...args]) => this.#data.send(name, args, encoding)));
    } catch (error) {
      throw readFailureOf(error);
    }
  }

  async register(nodeId: string, incarnation: string, leaseMs: number): Promise<void> {
    const ticket = Number(await this.#run(this.#scripts.takeTicket, [TICKETS_KEY], []));
    const keys = [NODES_KEY, leaseKey(nodeId), `{runtime}:ticket:${nodeId}`];
    const reply = await this.#run(this.#scripts.registerNode, keys, [nodeId, incarnation, leaseMs, ticket]);
    if (reply !== 1) throw new RuntimeFailure('STORE_UNAVAILABLE', LATER_PROCESS);
  }

  async renew(nodeId: string, incarnation: string, leaseMs: number): Promise<boolean> {
    return (await this.#run(this.#scripts.renewLease, [leaseKey(nodeId)], [incarnation, leaseMs])) === 1;
  }

  async resign(nodeId: string, incarnation: string): Promise<void> {
    await this.#run(this.#scripts.forgetNode, [NODES_KEY, leaseKey(nodeId)], [nodeId, incarnation]);
  }

  async nodes(): Promise<NodeRecord[]> {
    const [nodeIds] = await this.read([['SMEMBERS', NODES_KEY]]);
    if (nodeIds.length === 0) return [];
    nodeIds.sort();
    // The keys share a hash tag.
    const leases = await this.#readTogether(nodeIds.map(leaseKey));
    const alive: NodeRecord[] = [];
    for (const [index, nodeId] of nodeIds.entries()) {
      const incarnation = leases[index];
      if (incarnation != null) alive.push({ nodeId, incarnation });
      else await this.resign(nodeId, '');
    }
    return alive;
  }

  async records(): Promise<ShardRecord[]> {
    const keys = Array.from({ length: shardCount() }, (_, shard) => shardKey(shard, 'owner'));
    // A command answers for one slot of a cluster.
    const texts = this.#isCluster
      ? await this.read(keys.map((key) => ['GET', key]))
      : await this.#readTogether(keys);
    return texts.map(parseRecord);
  }

  /**
   * Reads keys of one slot, or any keys outside a cluster. It uses one command, since these reads are most of an idle
   * node's work.
   */
  async #readTogether([first = '', ...others]: readonly string[]): Promise<(string | null)[]> {
    const [values] = await this.read([['MGET', first, ...others]]);
    return values;
  }

  async changeOwner(
    shard: number,
    epoch: number,
    owner: string | undefined,
  ): Promise<{ readonly isChanged: boolean; readonly record: ShardRecord }> {
    const reply = await this.#run(
      this.#scripts.changeOwner,
      [shardKey(shard, 'owner')],
      [epoch, owner ?? '-'],
    );
    // Also if nothing was changed: the record may be an earlier write that no replica has.
    if (!(await this.#isReplicated())) throw outcomeUnknownFailure(NOT_REPLICATED);
    const [changeCount, text] = reply as [number, string];
    return { isChanged: changeCount === 1, record: parseRecord(text) };
  }

  async publish(channel: string, message: string): Promise<number | undefined> {
    try {
      const listeners = (await this.#data.send('publish', [channel, message])) as number;
      // A cluster counts only the subscribers at the node that was asked.
      return this.#isCluster ? undefined : listeners;
    } catch (error) {
      throw failureOf(error);
    }
  }

  subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    return this.#bus.subscribe(channel, listener);
  }

  unsubscribe(channel: string): void {
    this.#bus.unsubscribe(channel);
  }

  async timeMs(): Promise<number> {
    const [seconds, microseconds] = await this.#time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  }

  async #time(): Promise<[string, string]> {
    try {
      return (await this.#data.send('TIME', [])) as [string, string];
    } catch (error) {
      throw readFailureOf(error);
    }
  }

  async servers(): Promise<readonly ServerState[]> {
    const servers = await this.#askServers();
    this.#assumptions.see(servers);
    if (servers.every(({ isMaster }) => isMaster)) this.#lostMaster.noteConfirmed('role');
    else this.#lostMaster.noteDenied('role');
    return servers;
  }

  async #askServers(): Promise<readonly ServerState[]> {
    try {
      const answers = await this.#data.infos();
      return answers.map(([name, info]) => parseServerState(name, info));
    } catch (error) {
      throw readFailureOf(error);
    }
  }

  isAvailable(): boolean {
    return this.#commits.isReady && this.#data.isReady;
  }

  onAvailable(listener: () => void): void {
    this.#commits.client.on('ready', listener);
  }

  async close(): Promise<void> {
    this.#commits.close();
    this.#data.close();
    this.#bus.close();
  }

  /**
   * True once a replica has all earlier writes of the commits' connection. True at once if no replica is required. Call
   * it in the tick of a write's reply, or compare `#replicatedGroups`, as `readConfirmed` does.
   *
   * A `WAIT` blocks its connection, so only one is under way. It is after each write that was answered meanwhile,
   * because replies come in the order of the commands. So it counts for those writes, too.
   */
  #isReplicated(): Promise<boolean> | true {
    if (this.#durability === 'master') return true;
    if (this.#replicaWait === undefined) {
      const end = (): void => {
        this.#replicaWait = undefined;
      };
      const sentGroups = this.#sentGroups;
      // From Redis 7.2 on, a `WAIT` counts only writes of its own connection. This one is replicated, and stores
      // nothing.
      const written = this.#hasWritten ? undefined : this.#commits.send('publish', [WAIT_CHANNEL, '']);
      const replicas = this.#commits.send('WAIT', ['1', String(REPLICA_MS)]);
      // Directly on the reply: one that follows in the same bytes belongs to a later write, which needs another WAIT.
      replicas.then(end, end);
      this.#replicaWait = Promise.all([replicas, written]).then(
        ([count]) => {
          this.#hasWritten = true;
          if (Number(count) === 0) return false;
          this.#replicatedGroups = sentGroups;
          return true;
        },
        () => false,
      );
    }
    return this.#replicaWait;
  }

  async #run(script: LuaScript, keys: string[], args: RedisArgument[]): Promise<unknown> {
    try {
      const reply = await this.#commits.run(script, keys, args);
      this.#lostMaster.noteConfirmed('writes');
      return reply;
    } catch (error) {
      this.#lostMaster.writeFailed(error);
      throw failureOf(error);
    }
  }
}

function leaseKey(nodeId: string): string {
  return `{runtime}:lease:${nodeId}`;
}

/** Returns the outcome of a section that cannot be laid out, with the turns that cannot be laid out alone either. */
function notLaidOut(section: CommitSection): SectionOutcome {
  const failures = new Map<number, string>();
  for (const [turn, entry] of section.entries.entries()) {
    try {
      layOut([{ ...section, entries: [entry] }]);
    } catch {
      failures.set(turn, NOT_LAID_OUT);
    }
  }
  return { code: 'failed', message: NOT_LAID_OUT, ...(failures.size === 0 ? {} : { failures }) };
}

function outcomeOf(section: CommitSection, reply: unknown): SectionOutcome {
  if (reply === 1) return COMMITTED;
  // The record is the one that this section writes: the library or the network delivered it twice.
  if (reply === section.next) return COMMITTED;
  if (typeof reply === 'string') return { code: 'fenced', actual: parseRecord(reply) };
  return { code: 'committed', failures: failuresOf(section, reply as string[]) };
}

const COMMITTED: SectionOutcome = { code: 'committed' };

/** Returns the turns of the refused writes, with the messages. */
function failuresOf(section: CommitSection, replies: readonly string[]): ReadonlyMap<number, string> {
  const failures = new Map<number, string>();
  for (const reply of replies) {
    const space = reply.indexOf(' ');
    for (const turn of turnsOf(section, Number(reply.slice(0, space)))) {
      if (!failures.has(turn)) failures.set(turn, reply.slice(space + 1));
    }
  }
  return failures;
}
