import type { Address } from '../address.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Clock } from '../clock.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters, RuntimeObserver } from '../observer.ts';
import type { GroupCommit } from '../ownership/group-commit.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import type { Store } from '../store.ts';
import type { ShardMarks } from './shard-marks.ts';

/** A behaviour with its types erased. */
export type AnyBehaviour = Behaviour<unknown, unknown, unknown, unknown>;

/** The work in progress of all actors of a node. */
export interface WorkInProgress {
  /** Turns under way. */
  turns: number;
}

/** The parts and settings that all actors of a node share. */
export interface ActorSurroundings {
  readonly clock: Clock;
  /** Timers that fire at shared steps, so that one timer of the process serves many actors. */
  readonly steppedClock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly inProgress: WorkInProgress;
  readonly observer: RuntimeObserver | undefined;
  readonly store: Store;
  readonly commits: GroupCommit;
  readonly marks: ShardMarks;
  /**
   * True if this node may act for the shard now. The lease is then valid, and no other node is known to have taken the
   * shard.
   */
  readonly mayAct: (shard: OwnedShard) => boolean;
  /** Keeps a client command that made an actor throw, with its cause. */
  readonly deadLetter: (shard: OwnedShard, address: Address, command: unknown, cause: string) => void;
}
