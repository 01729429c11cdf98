import { parseRecord, type ShardRecord } from '../../runtime/engine.ts';
import { appliedWrites } from './append-only-file.ts';

/** The history of a run, read from the append-only file of its Redis. */
export interface Journal {
  /** Everything that breaks a promise of the runtime, as sentences. */
  readonly violations: readonly string[];
  /** Ids of the commands in the history. */
  readonly committed: ReadonlySet<string>;
  readonly acknowledged: number;
  /** Times a shard got another owner, or was settled by its own. */
  readonly epochs: number;
}

/**
 * Reads the history of a run and checks it.
 *
 * A shard's record changes only by a commit or by a change of owner. A commit adds one to the revision and changes
 * nothing else. A change of owner adds one to the epoch and keeps the revision. No command is committed twice. An
 * effect comes after its commit, once, from the node that committed it. An acknowledged command is in the history, and
 * had its effect before its caller got the answer. A refused one is not in the history.
 */
export function readJournal(directory: string): Journal {
  const reader = new JournalReader();
  for (const words of appliedWrites(directory)) reader.take(words);
  return reader.read();
}

class JournalReader {
  readonly #violations: string[] = [];
  readonly #records = new Map<string, ShardRecord>();
  /** The node that committed each command. */
  readonly #writers = new Map<string, string>();
  readonly #performed = new Set<string>();
  readonly #acknowledged = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #witnessed = new Set<string>();
  #epochs = 0;

  take([command, ...args]: readonly string[]): void {
    const name = command?.toUpperCase();
    const [key = '', value = ''] = args;
    if (name === 'SET' && key.endsWith(':owner')) this.#recordChanged(key, parseRecord(value));
    // The records of a group of commits, which nothing else is replaced with.
    for (let index = 0; name === 'MSET' && index < args.length; index += 2)
      this.#recordChanged(args[index] ?? '', parseRecord(args[index + 1]));
    if (name !== 'RPUSH') return;
    if (key === 'witness') this.#witness(value);
    else this.#committed(key, value);
  }

  #recordChanged(key: string, next: ShardRecord): void {
    const recordBefore = this.#records.get(key) ?? parseRecord(undefined);
    this.#records.set(key, next);
    const isCommit =
      next.owner === recordBefore.owner &&
      next.epoch === recordBefore.epoch &&
      next.revision === recordBefore.revision + 1;
    const isChange = next.epoch === recordBefore.epoch + 1 && next.revision === recordBefore.revision;
    if (isChange) this.#epochs += 1;
    if (!isCommit && !isChange)
      this.#violations.push(`${key} went from ${JSON.stringify(recordBefore)} to ${JSON.stringify(next)}`);
  }

  #committed(key: string, id: string): void {
    if (this.#writers.has(id)) this.#violations.push(`${id} was committed twice`);
    const owner = this.#records.get(`${key.slice(0, key.indexOf('}') + 1)}:owner`)?.owner;
    this.#writers.set(id, owner?.split(':')[0] ?? 'nobody');
  }

  #witness(entry: string): void {
    // After a restart Redis may have got the same line twice.
    if (this.#witnessed.has(entry)) return;
    this.#witnessed.add(entry);
    const [kind, id = '', nodeId] = entry.split(' ');
    if (kind === 'effect') {
      if (this.#performed.has(id)) this.#violations.push(`the effect of ${id} came twice`);
      if (!this.#writers.has(id)) this.#violations.push(`the effect of ${id} came without its commit`);
      else if (this.#writers.get(id) !== nodeId)
        this.#violations.push(`the effect of ${id} came from ${nodeId}`);
      this.#performed.add(id);
    }
    if (kind === 'acknowledged') {
      if (!this.#performed.has(id)) this.#violations.push(`${id} was acknowledged before its effect`);
      this.#acknowledged.add(id);
    }
    if (kind === 'refused') this.#refused.add(id);
  }

  read(): Journal {
    for (const id of this.#acknowledged) {
      if (!this.#writers.has(id)) this.#violations.push(`${id} was acknowledged and is not in the history`);
    }
    for (const id of this.#refused) {
      if (this.#writers.has(id)) this.#violations.push(`${id} was refused and is in the history`);
    }
    return {
      violations: this.#violations,
      committed: new Set(this.#writers.keys()),
      acknowledged: this.#acknowledged.size,
      epochs: this.#epochs,
    };
  }
}
