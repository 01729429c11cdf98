import type { Write } from '../store.ts';

/** The outcome of one turn's writes. */
export type CommitmentOutcome =
  /** They hold. */
  | 'committed'
  /** Redis refused one of them for a mistake in it; others of the same turn hold. */
  | 'failed'
  /**
   * Redis names another owner. Nothing was applied, and nothing of this shard will be from here. Its actors are stopped
   * next.
   */
  | 'fenced'
  /** Redis did not take them; nothing was applied. */
  | 'unavailable'
  /** Not known yet. Another outcome follows, `committed` or `unavailable`, or the shard is lost. */
  | 'unknown';

/** Writes that wait to be committed, and the callback for their outcome. One object serves an actor for all its turns. */
export interface Commitment {
  readonly writes: readonly Write[];
  /** No caller waits for it: it goes with the next batch, or alone at the end of a step (`RuntimeLimits.stepMs`), after a pause at once. */
  readonly mayWait?: boolean;
  settled(outcome: CommitmentOutcome, message?: string): void;
}
