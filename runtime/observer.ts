/** Returns the counters of a node that starts. */
export function runtimeCounters() {
  return {
    /** Turns that took effect. */
    turns: 0,
    /** Groups of commits that ended, with or without an answer of Redis. */
    commits: 0,
    /** Turns in these groups. */
    committedTurns: 0,
    /** Commits of a shard that the fence refused: another node has the newer epoch, or Redis lost writes. */
    fenceRefusals: 0,
    /** Commits of a shard that got no reply. The revision then showed their outcome. */
    unknownOutcomes: 0,
    /** Code of a behaviour that threw, and writes of a turn that Redis refused. */
    crashes: 0,
    restarts: 0,
    suspensions: 0,
    deadLetters: 0,
    /** Client commands refused because a mailbox was full by count, bytes or age. */
    mailboxRefusals: 0,
    /** Client commands refused because too many turns were under way, or a commit took too long. */
    busyRefusals: 0,
    activations: 0,
    passivations: 0,
    /** Effects that threw, which no effect may do. */
    effectFailures: 0,
    /** Requests forwarded to another node, and requests served for another node. */
    linkCalls: 0,
    linkServed: 0,
    /** Messages of the link that were dropped: sealed for another use or by another process, or received before. */
    linkRefused: 0,
    leaseLosses: 0,
    /** Times this node released its shards because its clock and that of Redis disagreed. */
    clockDisputes: 0,
    /** Shards found with a time stored that lay far ahead. */
    shardsAhead: 0,
    /** Shards with an older record in Redis than this node remembered: acknowledged writes are lost. */
    revertedShards: 0,
  };
}

/** Counters of this node since it started. */
export type RuntimeCounters = ReturnType<typeof runtimeCounters>;

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
  /**
   * A group of commits ended, with or without an answer of Redis. `latencyMs` runs from passing the group to the client
   * library until this end.
   */
  committed?(group: { readonly turns: number; readonly latencyMs: number }): void;
  /** A turn took effect. `durationMs` runs from its beginning until its reply. */
  turned?(kind: string, durationMs: number): void;
  /** Called when a traced turn took effect. If absent, `traceOf` is never called. */
  traced?(turn: TracedTurn): void;
}
