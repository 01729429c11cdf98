import type { Clock } from '../clock.ts';
import { recordText, type ShardRecord } from '../engine.ts';
import type { ActiveActor } from './active-actor.ts';
import type { AgreedClock } from './agreed-clock.ts';
import { CollectionMemory } from './collection-memory.ts';
import type { Commitment } from './commitment.ts';

/**
 * A shard while this node owns it. All its state is in this object, so that losing the shard is dropping the
 * object.
 */
export class OwnedShard {
  readonly number: number;
  /** The record as the last answer of Redis left it. */
  record: ShardRecord;
  /** `record` as text: what the next batch expects to find. */
  recordText: string;
  /** The latest wall-clock time that any turn of this shard got. */
  latestMs: number;
  /** Actors that are active here, by address text. */
  readonly actors = new Map<string, ActiveActor>();
  /** Address texts of actors that must live, as Redis holds them in `{sN}:awake`. */
  readonly awake: Set<string>;
  /** Address texts of suspended actors, as Redis holds them in `{sN}:suspended`. */
  readonly suspended: Set<string>;
  /** The memory of its small collections. */
  readonly memory = new CollectionMemory();
  /** Commitments for the next batch. */
  waiting: Commitment[] = [];
  /** The batch that Redis has not answered. */
  underWay: Commitment[] | undefined;
  /** The batch under way was cut off; its outcome is being found out. */
  inDoubt = false;
  /** Runs while it is found out what holds for the shard. */
  settling: Promise<void> | undefined;
  /** The lease ended and another node may have taken the shard: nothing takes effect until that is known. */
  frozen = false;
  /** Being handed over: no client command is taken any more. */
  draining = false;
  /** While draining: called whenever an actor may have settled its work in progress. */
  onSettling: (() => void) | undefined;
  /** No longer owned by this node: code that still holds this object does nothing with it. */
  dropped = false;
  /** A stored time far ahead of the agreed clock, which no actor is to wait for. */
  #disbelievedMs: number | undefined;
  #proposed: { readonly record: ShardRecord; readonly text: string } | undefined;

  constructor(
    number: number,
    record: ShardRecord,
    members: { readonly awake: Set<string>; readonly suspended: Set<string> },
  ) {
    this.number = number;
    this.record = record;
    this.recordText = recordText(record);
    this.latestMs = record.wallMs;
    this.awake = members.awake;
    this.suspended = members.suspended;
  }

  /** Wall-clock time for a turn: never behind the last commit, nor behind any turn before. */
  nowMs(clock: Clock): number {
    const wallMs = clock.wallMs();
    if (wallMs > this.latestMs) this.latestMs = wallMs;
    return this.latestMs;
  }

  /** Whether the time of the last commit, or of a turn, lies so far ahead that its actors would wait for it. */
  isAhead(clock: AgreedClock): boolean {
    return clock.isFarAhead(this.latestMs);
  }

  /** Goes on at the present time, whatever time is stored. Before any actor is loaded. */
  startOver(clock: Clock): void {
    this.#disbelievedMs = this.record.wallMs;
    this.latestMs = clock.wallMs();
  }

  /** The record that Redis holds from here on. */
  adopt(record: ShardRecord): void {
    this.record = record;
    this.recordText = recordText(record);
    if (record.wallMs !== this.#disbelievedMs) this.latestMs = Math.max(this.latestMs, record.wallMs);
  }

  /** The text of the record that the next batch writes; a shard has one under way at most. */
  propose(): string {
    const { owner, epoch, revision } = this.record;
    const record = { owner, epoch, revision: revision + 1, wallMs: this.latestMs };
    const text = recordText(record);
    this.#proposed = { record, text };
    return text;
  }

  /** The batch that was proposed last is committed. */
  committed(): void {
    if (this.#proposed === undefined)
      throw new Error(`shard ${this.number} committed what it never proposed`);
    this.record = this.#proposed.record;
    this.recordText = this.#proposed.text;
  }
}
