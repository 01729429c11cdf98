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
  /** `record` as text. The next commit expects this text in Redis. */
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
  /** Commitments for the next group. */
  waiting: Commitment[] = [];
  /** The commitments that were sent, until Redis answers. */
  underWay: Commitment[] | undefined;
  /** True while the outcome of the commitments under way is unknown, because Redis did not reply. */
  isInDoubt = false;
  /** Set while the owner of the shard is being checked. */
  settling: Promise<void> | undefined;
  /** The lease ended and another node may have taken the shard. Nothing takes effect until that is known. */
  isOwnerUnknown = false;
  /** True while it is handed over. It then accepts no client command. */
  isDraining = false;
  /** While draining: called whenever an actor may have settled its work in progress. */
  onSettling: (() => void) | undefined;
  /** True if this node no longer owns the shard. Code that still has this object does nothing with it. */
  isDropped = false;
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

  /**
   * Returns the wall-clock time for a turn. It is never earlier than any turn before, nor than the last commit unless
   * `startOver` ignored that.
   */
  nowMs(clock: Clock): number {
    const wallMs = clock.wallMs();
    if (wallMs > this.latestMs) this.latestMs = wallMs;
    return this.latestMs;
  }

  /** True if the time of the last commit, or of a turn, is so far ahead that its actors would wait for it. */
  isAhead(clock: AgreedClock): boolean {
    return clock.isFarAhead(this.latestMs);
  }

  /** Continues at the present time and ignores the stored time. Call it before any actor is loaded. */
  startOver(clock: Clock): void {
    this.#disbelievedMs = this.record.wallMs;
    this.latestMs = clock.wallMs();
  }

  /** Sets the record that Redis has from now on. */
  adopt(record: ShardRecord): void {
    this.record = record;
    this.recordText = recordText(record);
    if (record.wallMs !== this.#disbelievedMs) this.latestMs = Math.max(this.latestMs, record.wallMs);
  }

  /** Returns the text of the record that the next commit writes. A shard has one commit under way at most. */
  propose(): string {
    const { owner, epoch, revision } = this.record;
    const record = { owner, epoch, revision: revision + 1, wallMs: this.latestMs };
    const text = recordText(record);
    this.#proposed = { record, text };
    return text;
  }

  /** Called when the record that was proposed last is committed. */
  confirmProposed(): void {
    if (this.#proposed === undefined)
      throw new Error(`shard ${this.number} committed what it never proposed`);
    this.record = this.#proposed.record;
    this.recordText = this.#proposed.text;
  }
}
