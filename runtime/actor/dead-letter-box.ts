import { type Address, addressText, shardCount, shardKey } from '../address.ts';
import { afterCommand } from '../after-command.ts';
import type { Clock } from '../clock.ts';
import type { DeadLetter, DeadLetters } from '../dead-letters.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { idsFrom, type ObjectId, objectIdGenerator } from '../object-id.ts';
import type { RuntimeCounters } from '../observer.ts';
import type { GroupCommit } from '../ownership/group-commit.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import type { Random } from '../random.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import type { Store } from '../store.ts';
import type { TextCipher } from '../text-cipher.ts';

export interface DeadLetterBoxOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly store: Store;
  readonly commits: GroupCommit;
  /** Seals commands, because they contain texts of callers. */
  readonly cipher: TextCipher;
  readonly ask: (address: Address, command: unknown) => Promise<unknown>;
}

/**
 * Keeps dead letters in `{sN}:dead-letters`, a sorted set of `id json` with one score, so that text order is
 * age. They are bounded by number and by age (`RuntimeLimits`).
 */
export class DeadLetterBox implements DeadLetters {
  readonly #options: DeadLetterBoxOptions;
  readonly #nextId: (nowMs: number) => ObjectId;
  /** Replays under way: a second request for one gets the same promise. */
  readonly #replays = new Map<string, Promise<unknown>>();

  constructor(options: DeadLetterBoxOptions) {
    this.#options = options;
    this.#nextId = objectIdGenerator(options.random);
  }

  /** Keeps a command. If the shard then has too many, the oldest are dropped. */
  deadLetter(shard: OwnedShard, address: Address, command: unknown, cause: string): void {
    const { cipher, clock, commits, counters, limits, log } = this.#options;
    const atMs = shard.nowMs(clock);
    const id = this.#nextId(atMs);
    const key = keyOf(shard.number);
    const { kind } = address;
    const { type } = command as { readonly type?: string };
    const sealedCommand = cipher.seal(id, JSON.stringify(command));
    const letter = JSON.stringify({ kind, id: address.id, type, sealed: sealedCommand, cause, atMs });
    counters.deadLetters += 1;
    commits.add(shard, {
      writes: [
        ['ZADD', key, 0, `${id} ${letter}`],
        ['ZREMRANGEBYRANK', key, 0, -limits.deadLettersPerShard - 1],
      ],
      onSettled: (outcome) => {
        if (outcome === 'committed') return;
        log.error({ actor: addressText(address), id, outcome }, 'a dead letter could not be kept');
      },
    });
  }

  /**
   * Drops expired letters of some shards of this node. It resolves also if Redis refused, because the next round tries
   * again.
   */
  async forgetOld(shards: readonly OwnedShard[]): Promise<void> {
    const { clock, limits, log, store } = this.#options;
    const newestId = `(${idsFrom(clock.wallMs() - limits.deadLetterAgeMs)}`;
    try {
      const oldIds = await store.read(
        shards.map(({ number }) => ['ZRANGEBYLEX', keyOf(number), '-', newestId, 'LIMIT', 0, 1]),
      );
      const withOld = shards.filter((_, index) => (oldIds[index] ?? []).length > 0);
      await Promise.all(
        withOld.map(({ number }) => store.commit(number, [['ZREMRANGEBYLEX', keyOf(number), '-', newestId]])),
      );
    } catch (error) {
      log.warn({ err: error }, 'old dead letters could not be removed');
    }
  }

  async list(options: { readonly limit?: number; readonly after?: string } = {}): Promise<DeadLetter[]> {
    const { limit = 50, after } = options;
    const newestId = after === undefined ? '+' : `(${after}`;
    const reads = Array.from(
      { length: shardCount() },
      (_, shard) => ['ZREVRANGEBYLEX', keyOf(shard), newestId, '-', 'LIMIT', 0, limit] as const,
    );
    const shards = await this.#options.store.read(reads);
    return shards
      .flatMap((members, shard) => members.map((member) => this.#letter(member, shard)))
      .sort((left, right) => (left.id < right.id ? 1 : -1))
      .slice(0, limit);
  }

  async find(id: string): Promise<DeadLetter | undefined> {
    const reads = Array.from(
      { length: shardCount() },
      (_, shard) => ['ZRANGEBYLEX', keyOf(shard), ...rangeOf(id)] as const,
    );
    const shards = await this.#options.store.read(reads);
    return shards.flatMap((members, shard) => members.map((member) => this.#letter(member, shard))).at(0);
  }

  replay(id: string, shard: number): Promise<unknown> {
    const run = this.#replays.get(id) ?? this.#replay(id, shard).finally(() => void this.#replays.delete(id));
    this.#replays.set(id, run);
    return run;
  }

  async #replay(id: string, shard: number): Promise<unknown> {
    const [[member]] = await this.#options.store.read([['ZRANGEBYLEX', keyOf(shard), ...rangeOf(id)]]);
    if (member === undefined) return undefined;
    const { address, command } = this.#letter(member, shard);
    if (command === undefined) throw new Error('the dead letter was sealed with a key that is not ours');
    try {
      const reply = await this.#options.ask(address, command);
      await afterCommand(() => this.drop(id, shard));
      return reply;
    } catch (error) {
      // The command was dead-lettered again, with the new cause.
      if (error instanceof RuntimeFailure && error.code === 'POISONED') await this.drop(id, shard);
      throw error;
    }
  }

  async drop(id: string, shard: number): Promise<boolean> {
    const [members] = await this.#options.store.read([['ZRANGEBYLEX', keyOf(shard), ...rangeOf(id)]]);
    if (members.length === 0) return false;
    await this.#options.store.commit(shard, [['ZREMRANGEBYLEX', keyOf(shard), ...rangeOf(id)]]);
    return true;
  }

  #letter(member: string, shard: number): DeadLetter {
    const { id, letter } = parseMember(member);
    const { kind, cause, atMs } = letter;
    const command = letter.sealed === undefined ? letter.command : this.#openCommand(id, letter.sealed);
    const type = letter.type ?? (command as { readonly type?: string } | undefined)?.type;
    return { id, address: { shard, kind, id: letter.id }, command, type, cause, atMs };
  }

  #openCommand(id: string, sealedCommand: string): unknown {
    try {
      return JSON.parse(this.#options.cipher.open(id, sealedCommand));
    } catch {
      return undefined;
    }
  }

  async forget({ shard, kind, id }: Address): Promise<void> {
    const [members] = await this.#options.store.read([['ZRANGE', keyOf(shard), 0, -1]]);
    const ownMembers = members.filter((member) => {
      const { letter } = parseMember(member);
      return letter.kind === kind && letter.id === id;
    });
    if (ownMembers.length > 0)
      await this.#options.store.commit(shard, [['ZREM', keyOf(shard), ...ownMembers]]);
  }
}

/** Returns the range of an id's member. An exclamation mark is the character after a space. */
function rangeOf(id: string): readonly [from: string, to: string] {
  return [`[${id} `, `(${id}!`];
}

function keyOf(shard: number): string {
  return shardKey(shard, 'dead-letters');
}

/** The JSON of a letter. */
interface KeptLetter {
  readonly kind: string;
  readonly id: string;
  readonly type?: string;
  /** The command of a letter of 0.1.0. 0.2.0 stored none. */
  readonly command?: unknown;
  /** The command as JSON, sealed for the letter's id. */
  readonly sealed?: string;
  readonly cause: string;
  readonly atMs: number;
}

function parseMember(member: string): { readonly id: string; readonly letter: KeptLetter } {
  const space = member.indexOf(' ');
  return { id: member.slice(0, space), letter: JSON.parse(member.slice(space + 1)) as KeptLetter };
}
