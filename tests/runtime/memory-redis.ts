import { shardCount } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type CommitSection,
  type NodeRecord,
  parseRecord,
  recordText,
  type SectionOutcome,
  type ShardRecord,
} from '../../runtime/engine.ts';
import type { RedisCommand } from '../../runtime/store.ts';
import { runCommand, type Value } from './memory-commands.ts';

/** One commit of one shard that was applied. */
export interface HistoryEntry {
  readonly sequence: number;
  readonly shard: number;
  readonly record: ShardRecord;
  readonly before: ShardRecord;
  readonly writes: readonly RedisCommand[];
}

/** The runtime's Redis in memory: it gives equal answers to the few commands that the tests use. */
export class MemoryRedis {
  readonly history: HistoryEntry[] = [];
  readonly values = new Map<string, Value>();
  readonly listeners = new Map<string, Set<(channel: string, message: string) => void>>();
  /** If false, there is no fence. A test then checks that the checker notices. */
  isFenced = true;
  #sequence = 0;
  #lastTicket = 0;
  /** The highest ticket that registered, by node id. */
  readonly #tickets = new Map<string, number>();
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly #records: string[];
  /** The records, parsed once, so that a read of thousands of shards parses none of them again. */
  readonly #read: ShardRecord[];
  readonly #leases = new Map<string, { incarnation: string; untilMs: number }>();

  /** `shards`: how many there are; a simulation has few, and all of them busy. */
  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>, shards = shardCount()) {
    this.#clock = clock;
    this.#records = Array.from({ length: shards }, () => '');
    this.#read = this.#records.map((text) => parseRecord(text));
  }

  /** Returns another Redis with the same data. It has no nodes and no records. */
  copy(): MemoryRedis {
    const copy = new MemoryRedis(this.#clock);
    for (const [key, value] of this.values) copy.values.set(key, structuredClone(value));
    return copy;
  }

  /** Returns the next number in the order of a history's commits and effects. */
  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  commit(sections: readonly CommitSection[]): SectionOutcome[] {
    return sections.map((section) => {
      const actual = this.#records[section.shard] ?? '';
      if (actual === section.next) return { code: 'committed' };
      if (this.isFenced && actual !== section.expected)
        return { code: 'fenced', actual: parseRecord(actual) };
      this.#write(section.shard, section.next);
      const writes = section.entries.flatMap((entry) => entry.writes);
      this.history.push({
        sequence: this.nextSequence(),
        shard: section.shard,
        record: parseRecord(section.next),
        before: parseRecord(actual),
        writes,
      });
      const failures = new Map<number, string>();
      for (const [index, entry] of section.entries.entries()) {
        for (const write of entry.writes) {
          try {
            this.run(write);
          } catch (error) {
            if (!failures.has(index)) failures.set(index, (error as Error).message);
          }
        }
      }
      return failures.size === 0 ? { code: 'committed' } : { code: 'committed', failures };
    });
  }

  changeOwner(
    shard: number,
    epoch: number,
    owner: string | undefined,
  ): { isChanged: boolean; record: ShardRecord } {
    const record = parseRecord(this.#records[shard]);
    if (record.epoch !== epoch) return { isChanged: false, record };
    const changed = { ...record, owner, epoch: epoch + 1 };
    this.#write(shard, recordText(changed));
    return { isChanged: true, record: changed };
  }

  #write(shard: number, text: string): void {
    this.#records[shard] = text;
    this.#read[shard] = parseRecord(text);
  }

  /** Returns the time of Redis' own clock. */
  timeMs(): number {
    return this.#clock.wallMs();
  }

  records(): ShardRecord[] {
    return [...this.#read];
  }

  /** Returns a number above all earlier ones. */
  ticket(): number {
    this.#lastTicket += 1;
    return this.#lastTicket;
  }

  /** Returns false if a ticket that was taken later has registered. */
  register(nodeId: string, incarnation: string, leaseMs: number, ticket = this.ticket()): boolean {
    if (ticket < (this.#tickets.get(nodeId) ?? 0)) return false;
    this.#tickets.set(nodeId, ticket);
    this.#leases.set(nodeId, { incarnation, untilMs: this.#clock.monotonicMs() + leaseMs });
    return true;
  }

  renew(nodeId: string, incarnation: string, leaseMs: number): boolean {
    const lease = this.#leases.get(nodeId);
    if (
      lease === undefined ||
      lease.incarnation !== incarnation ||
      lease.untilMs <= this.#clock.monotonicMs()
    )
      return false;
    lease.untilMs = this.#clock.monotonicMs() + leaseMs;
    return true;
  }

  resign(nodeId: string, incarnation: string): void {
    if (this.#leases.get(nodeId)?.incarnation === incarnation) this.#leases.delete(nodeId);
  }

  nodes(): NodeRecord[] {
    return [...this.#leases]
      .filter(([, lease]) => lease.untilMs > this.#clock.monotonicMs())
      .map(([nodeId, { incarnation }]) => ({ nodeId, incarnation }))
      .sort((one, other) => (one.nodeId < other.nodeId ? -1 : 1));
  }

  /** Runs one command. Throws on a wrong type, and on a command that no test needed so far. */
  run([name, key, ...otherArguments]: RedisCommand): unknown {
    return runCommand(this.values, [name, key, ...otherArguments.map(String)]);
  }
}
