import { RuntimeFailure } from './runtime-failure.ts';

/** The actor waits for an operator. */
export function suspendedFailure(): RuntimeFailure {
  return new RuntimeFailure('SUSPENDED', 'the actor crashed too often and waits for an operator');
}

/** Another node owns the shard, or is about to. */
export function movedAwayFailure(): RuntimeFailure {
  return new RuntimeFailure('SHARD_NOT_OWNED', 'the shard is not owned by this node', 1);
}

/** Redis accepts no writes now; nothing was applied. */
export function unavailableFailure(message: string): RuntimeFailure {
  return new RuntimeFailure('STORE_UNAVAILABLE', message, 1);
}

/** The commit may or may not have been applied. */
export function outcomeUnknownFailure(message: string): RuntimeFailure {
  return new RuntimeFailure('OUTCOME_UNKNOWN', message, 1);
}

/** The mailbox is too full for another client command, or the command waited too long. */
export function mailboxFullFailure(): RuntimeFailure {
  return new RuntimeFailure('MAILBOX_FULL', 'the mailbox is full', 1);
}

/** The node has the maximum of turns under way, of all actors together. */
export function nodeBusyFailure(): RuntimeFailure {
  return new RuntimeFailure('NODE_BUSY', 'the node has too many turns in progress', 1);
}

/** The command made the actor throw. */
export function poisonedFailure(): RuntimeFailure {
  return new RuntimeFailure('POISONED', 'the command made the actor throw');
}

/** The text of an error for a log or an operator. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
