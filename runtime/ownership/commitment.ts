import { replyCode, ValueFreeError } from '../described-error.ts';
import { movedAwayFailure, outcomeUnknownFailure, unavailableFailure } from '../runtime-failure.ts';
import type { Write } from '../store.ts';

/** A commit was `failed`. Only the code of Redis' refusal is kept. */
export class FailedWrite extends ValueFreeError {
  readonly code: string | undefined;

  constructor(refusal = '') {
    super('a write failed');
    this.code = replyCode(refusal);
  }
}

/** The outcome of one turn's writes. */
export type CommitmentOutcome =
  /** All of them were applied. */
  | 'committed'
  /** Redis refused one of them for a mistake in it, and others were applied. Or a defect kept them all from Redis. */
  | 'failed'
  /**
   * Another node owns the shard, or Redis lost writes. Nothing was applied, and nothing of this shard will be applied
   * from here. Its actors are stopped next.
   */
  | 'fenced'
  /** Redis did not accept them; nothing was applied. */
  | 'unavailable'
  /** The outcome is not known yet. Later it is `committed` or `unavailable`, unless the shard is lost. */
  | 'unknown';

/**
 * Writes that wait to be committed, and the callback for their outcome. One object serves an actor for all its turns.
 */
export interface Commitment {
  readonly writes: readonly Write[];
  /**
   * True if no caller waits for it. It goes with the next group, or alone at the end of a step
   * (`RuntimeLimits.stepMs`), or at once after a pause.
   */
  readonly mayWait?: boolean;
  onSettled(outcome: CommitmentOutcome, message?: string): void;
}

/** Returns the error of writes with this outcome. `message` is that of `onSettled`. */
export function commitFailure(
  outcome: Exclude<CommitmentOutcome, 'committed'>,
  message: string | undefined,
): Error {
  switch (outcome) {
    case 'failed':
      return new FailedWrite(message);
    case 'fenced':
      return movedAwayFailure();
    case 'unavailable':
      return unavailableFailure(message ?? 'Redis cannot be reached');
    case 'unknown':
      return outcomeUnknownFailure('the commit was sent and not confirmed');
  }
}
