/** Counters of this node since it started. */
export interface RuntimeCounters {
  /** Turns that took effect. */
  turns: number;
  /** Batches that Redis answered. */
  commits: number;
  /** Turns in these batches. */
  committedTurns: number;
  /** Batches that the fence refused for a shard: another node has the newer epoch, or Redis lost writes. */
  fenceRefusals: number;
  /** Batches whose outcome the revision showed. */
  unknownOutcomes: number;
  crashes: number;
  restarts: number;
  suspensions: number;
  deadLetters: number;
  /** Client commands refused because a mailbox was full by count, bytes or age. */
  mailboxRefusals: number;
  /** Client commands refused because the node had the maximum of turns under way. */
  busyRefusals: number;
  activations: number;
  passivations: number;
  /** Effects that threw although they must not. */
  effectFailures: number;
  /** Requests forwarded to another node, and requests served for another node. */
  linkCalls: number;
  linkServed: number;
  /** Messages of the link that were dropped: sealed for another use or by another process, or received before. */
  linkRefused: number;
  leaseLosses: number;
  /** Times this node released its shards because its clock and that of Redis disagreed. */
  clockDisputes: number;
  /** Shards found with a time stored that lay far ahead. */
  shardsAhead: number;
  /** Shards with an older record in Redis than this node remembered: acknowledged writes are lost. */
  revertedShards: number;
}

export function runtimeCounters(): RuntimeCounters {
  return {
    turns: 0,
    commits: 0,
    committedTurns: 0,
    fenceRefusals: 0,
    unknownOutcomes: 0,
    crashes: 0,
    restarts: 0,
    suspensions: 0,
    deadLetters: 0,
    mailboxRefusals: 0,
    busyRefusals: 0,
    activations: 0,
    passivations: 0,
    effectFailures: 0,
    linkCalls: 0,
    linkServed: 0,
    linkRefused: 0,
    leaseLosses: 0,
    clockDisputes: 0,
    shardsAhead: 0,
    revertedShards: 0,
  };
}

/** A turn of a command that is traced. Times in milliseconds since the Unix epoch. */
export interface TracedTurn {
  readonly kind: string;
  readonly traceparent: string;
  readonly startMs: number;
  /** The time at which its writes were passed to the group commit, or undefined if it had none. */
  readonly commitMs: number | undefined;
  readonly endMs: number;
}

/** Called with sizes and durations, for histograms. Must not throw. */
export interface RuntimeObserver {
  /** A batch was answered. `latencyMs` runs from handing it to the client library until the answer. */
  committed?(batch: { readonly turns: number; readonly latencyMs: number }): void;
  /** A turn took effect. `durationMs` runs from taking its command out of the mailbox until its reply. */
  turned?(kind: string, durationMs: number): void;
  /** Called when a traced turn took effect. If absent, `traceOf` is never called. */
  traced?(turn: TracedTurn): void;
}
