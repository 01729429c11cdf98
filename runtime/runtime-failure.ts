/** The reason why the runtime refused. Nothing was changed, unless the code states otherwise. */
export type RuntimeFailureCode =
  /** The mailbox is full by count, bytes or age: retry later. */
  | 'MAILBOX_FULL'
  /** The node has the maximum of turns under way, Redis takes too long over them, or a thread cannot start: retry later. */
  | 'NODE_BUSY'
  /** Another node owns the shard, or no node does yet. Or the node does not serve yet. */
  | 'SHARD_NOT_OWNED'
  /** The actor crashed too often and waits for an operator. */
  | 'SUSPENDED'
  /** The command made the actor throw; it was dead-lettered. */
  | 'POISONED'
  /** Redis cannot be reached, is full or read-only. */
  | 'STORE_UNAVAILABLE'
  /** A write or a command was sent, and its outcome is not known: it may have happened. */
  | 'OUTCOME_UNKNOWN'
  /** No reply within the deadline: the command may have been executed. */
  | 'DEADLINE_EXCEEDED'
  /** Sent by nodes of 0.2.0 that do not serve yet. Nodes of this release send `SHARD_NOT_OWNED` then. */
  | 'STOPPING';

/** An expected failure of the runtime, identified by its literal `code`. */
export class RuntimeFailure extends Error {
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
