import type { Engine } from '../engine.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters } from '../observer.ts';
import type { Random } from '../random.ts';
import type { AgreedClock } from './agreed-clock.ts';
import type { GroupCommit } from './group-commit.ts';
import type { OwnedShard } from './owned-shard.ts';

export interface OwnershipOptions {
  readonly nodeId: string;
  readonly engine: Engine;
  readonly clock: AgreedClock;
  readonly random: Random;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly afterTick: (callback: () => void) => void;
  /** Set once both exist. Ownership decides the cases that the group commit cannot know. */
  readonly commits: () => GroupCommit;
  /** Called when this node has claimed the shard: activate its actors. */
  readonly onClaimed: (shard: OwnedShard) => void;
  /** This node has a new incarnation. Called before it owns anything under it. */
  readonly onIncarnation: (incarnation: string) => Promise<void>;
  /** Another process took our node id. Everything has been stopped. */
  readonly onSuperseded: () => void;
}
