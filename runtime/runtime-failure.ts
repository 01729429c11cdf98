import { ValueFreeError } from './described-error.ts';

/** The reason why the runtime refused. Nothing was changed, unless the code states otherwise. */
export type RuntimeFailureCode =
  /** The mailbox is full by count, bytes or age: retry later. */
  | 'MAILBOX_FULL'
  /**
   * The node has the maximum of turns under way, Redis takes too long over them, or no thread or slot is free: retry
   * later.
   */
  | 'NODE_BUSY'
  /** Another node owns the shard, no node owns it yet, or the node does not serve yet. */
  | 'SHARD_NOT_OWNED'
  /** The actor crashed too often and waits for an operator. */
  | 'SUSPENDED'
  /**
   * The command made the actor throw, and one of the client lane was dead-lettered. If Redis refused one write of its
   * turn, the turn's other writes were applied.
   */
  | 'POISONED'
  /**
   * Redis cannot be reached, is full or read-only. Or this release does not know the stored state or the request, which
   * another release made.
   */
  | 'STORE_UNAVAILABLE'
  /** A write or a command was sent, and its outcome is not known: it may have happened. */
  | 'OUTCOME_UNKNOWN'
  /** No reply within the deadline: the command may have been executed. */
  | 'DEADLINE_EXCEEDED'
  /** Sent by nodes of 0.2.0 that do not serve yet. Nodes of this tree, which is newer, send `SHARD_NOT_OWNED` then. */
  | 'STOPPING';

/** An expected failure of the runtime, identified by its literal `code`. Its message contains no stored text. */
export class RuntimeFailure extends ValueFreeError {
  override readonly name = 'RuntimeFailure';
  readonly code: RuntimeFailureCode;
  /** Seconds after which a retry may succeed, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: RuntimeFailureCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Thrown by `Behaviour.load` if a newer program stored the state: during its rolling deployment, or after it was rolled
 * back. It is not a crash, so it never counts towards a suspension. Callers get `STORE_UNAVAILABLE`. An actor that is
 * needed is loaded again after `RuntimeLimits.newerStateRetryMs`, any other at its next request.
 */
export class NewerState extends RuntimeFailure {
  constructor(subject: string, versions: { readonly stored: number; readonly known: number }) {
    super(
      'STORE_UNAVAILABLE',
      `${subject} was stored in version ${versions.stored}, newer than this program's ${versions.known}`,
      30,
    );
  }
}

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

/** The mailbox takes no other client command: it is full, or its oldest one waits too long. */
export function mailboxFullFailure(): RuntimeFailure {
  return new RuntimeFailure('MAILBOX_FULL', 'the mailbox is full', 1);
}

/** A client command waits longer than its mailbox allows. */
export function waitedTooLongFailure(): RuntimeFailure {
  return new RuntimeFailure('MAILBOX_FULL', 'the command waits too long in the mailbox', 1);
}

/** Too many turns are under way, of all actors together, or a commit takes too long. */
export function nodeBusyFailure(): RuntimeFailure {
  return new RuntimeFailure(
    'NODE_BUSY',
    'the node has too many turns in progress, or a commit takes too long',
    1,
  );
}

/** The command made the actor throw. */
export function poisonedFailure(): RuntimeFailure {
  return new RuntimeFailure('POISONED', 'the command made the actor throw');
}
