import { shardCount } from '../../runtime/address.ts';
import { type CommitSection, type Engine, recordText, type ShardRecord } from '../../runtime/engine.ts';
import type { Write } from '../../runtime/store.ts';

/** Writes that are committed together; `settled` is called once they hold. */
export interface WritesByHand {
  readonly writes: readonly Write[];
  readonly settled: () => void;
}

/** A shard whose record only this process writes. */
interface Shard {
  readonly number: number;
  record: ShardRecord;
  waiting: WritesByHand[];
  isUnderWay: boolean;
}

/** Batches under way at a time, as many as the service has. */
const BATCHES = 2;

/**
 * The fenced commit of the service by hand: its script, with one section a shard. The writes of one turn of the event
 * loop go in one batch. No lease, no doubt, no memory; if Redis refuses anything, the process ends.
 */
export class BatchesByHand {
  readonly #engine: Engine;
  readonly #shards: readonly Shard[];
  readonly #ready = new Set<Shard>();
  #underWay = 0;
  #isArmed = false;

  private constructor(engine: Engine, records: readonly ShardRecord[]) {
    this.#engine = engine;
    this.#shards = records.map((record, number) => ({ number, record, waiting: [], isUnderWay: false }));
  }

  /** Claims every shard. */
  static async claim(engine: Engine): Promise<BatchesByHand> {
    const claims = Array.from({ length: shardCount() }, (_, shard) =>
      engine.changeOwner(shard, 0, 'by-hand'),
    );
    return new BatchesByHand(
      engine,
      (await Promise.all(claims)).map(({ record }) => record),
    );
  }

  add(number: number, writes: WritesByHand): void {
    const shard = this.#shards[number] as Shard;
    shard.waiting.push(writes);
    if (!shard.isUnderWay) this.#ready.add(shard);
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#underWay === BATCHES || this.#ready.size === 0) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      void this.#commit();
    });
  }

  async #commit(): Promise<void> {
    const batch: { readonly shard: Shard; readonly next: ShardRecord; readonly entries: WritesByHand[] }[] =
      [];
    // Half of what waits, where a second batch may follow: Redis then works on the one while the other is gathered.
    const size = Math.ceil(this.#ready.size / (BATCHES - this.#underWay));
    for (const shard of this.#ready) {
      if (batch.length === size) break;
      this.#ready.delete(shard);
      const { record, waiting } = shard;
      batch.push({
        shard,
        next: { ...record, revision: record.revision + 1, wallMs: Date.now() },
        entries: waiting,
      });
      shard.waiting = [];
      shard.isUnderWay = true;
    }
    this.#underWay += 1;
    this.#arm();
    const sections = batch.map(({ shard, next, entries }): CommitSection => {
      return { shard: shard.number, expected: recordText(shard.record), next: recordText(next), entries };
    });
    const outcomes = await this.#engine.commit(sections);
    this.#underWay -= 1;
    for (const [index, { shard, next, entries }] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome?.code !== 'committed' || outcome.failures !== undefined)
        throw new Error(`a batch was not committed: ${JSON.stringify(outcome)}`);
      shard.record = next;
      shard.isUnderWay = false;
      if (shard.waiting.length > 0) this.#ready.add(shard);
      for (const { settled } of entries) settled();
    }
    this.#arm();
  }
}
