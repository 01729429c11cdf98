/** The bounds and intervals of the runtime. Every one has a default that suits production; tests shrink some. */
export interface RuntimeLimits {
  /**
   * The time in milliseconds after which other nodes may take the shards of a silent node. A take-over after a crash
   * takes this time and one claim round.
   */
  readonly leaseMs: number;
  /** How often the lease is renewed; a few renewals may be missed before it ends. */
  readonly renewEveryMs: number;
  /**
   * Interval of the rounds that claim shards and give shards away. Changes are also announced, so this is the fallback.
   */
  readonly claimEveryMs: number;
  /** How long a hand-over waits for an actor's work in progress (docs/decisions/006-sends-are-recalled.md, Context). */
  readonly settleMs: number;
  /** The longest time in which Redis may answer. After it, the connection counts as dead and the outcome as unknown. */
  readonly answerMs: number;
  /** Delay after which a control command is retried while Redis does not answer. */
  readonly retryMs: number;
  /** Commits under way at once. A shard has one at most, so more help only when many shards are busy. */
  readonly commitsInFlight: number;
  /** Turns of one batch. The others go with the next batch, so that no script blocks Redis for long. */
  readonly batchTurns: number;
  /**
   * The most turns under way on the whole node, from their facts to their reply. At this limit, client commands are
   * refused. One batch carries this number; more turns would only wait. An actor has one turn at most, so a busy
   * mailbox cannot block other actors.
   */
  readonly turnsInProgress: number;
  /**
   * While the oldest batch has waited for Redis longer than this, client commands are refused. They would only wait for
   * that batch.
   */
  readonly commitAgeMs: number;
  /** Client commands that may wait in one mailbox. */
  readonly mailboxCount: number;
  /** Bytes of client commands that may wait in one mailbox, measured by `Behaviour.size`. */
  readonly mailboxBytes: number;
  /** The longest time that a client command may wait. If the oldest one waits longer, all others are refused. */
  readonly mailboxAgeMs: number;
  /** Crashes within `restartWindowMs` that lead to a restart. One more suspends the actor. */
  readonly restartIntensity: number;
  readonly restartWindowMs: number;
  /** Wait before the first restart in the window; doubles with each, up to `backoffMaximumMs`. */
  readonly backoffMs: number;
  readonly backoffMaximumMs: number;
  /** Interval of `Behaviour.suspended` for an actor that waits for an operator. */
  readonly tendSuspendedMs: number;
  /**
   * The step of actors' timers and of their sessions' reports, in milliseconds. One timer of the process then serves
   * many of them (docs/decisions/026-shared-wake-ups.md).
   */
  readonly stepMs: number;
  /** An actor that need not live is stopped after this long without a turn. */
  readonly passivateAfterMs: number;
  /** Interval of the search for idle actors. */
  readonly passivateEveryMs: number;
  /** Actors activated per step after a claim. The limit prevents that all sockets are opened at once. */
  readonly awakenPerStep: number;
  readonly awakenStepMs: number;
  /** Dead letters kept for each shard. If there are more, the oldest are dropped. */
  readonly deadLettersPerShard: number;
  /**
   * How long a dead letter is kept, in milliseconds. It may stay about eleven minutes longer (see `FORGETTING_SWEEPS`).
   */
  readonly deadLetterAgeMs: number;
  /**
   * The largest difference between this node's clock and that of Redis. Above it the node owns nothing until they
   * agree. It is well above a reply's delay (`answerMs`) and NTP's error, and well below the shortest window (a
   * minute).
   */
  readonly clockToleranceMs: number;
  /**
   * Share of `maxmemory`, of the fullest server, above which client commands are refused. Control commands still fit.
   */
  readonly memoryShare: number;
}

/** The limits in production. */
export const defaultLimits: RuntimeLimits = {
  leaseMs: 5_000,
  renewEveryMs: 1_000,
  claimEveryMs: 1_000,
  settleMs: 1_500,
  answerMs: 2_000,
  retryMs: 200,
  commitsInFlight: 2,
  batchTurns: 512,
  turnsInProgress: 512,
  commitAgeMs: 1_000,
  mailboxCount: 1_024,
  mailboxBytes: 4 * 1024 * 1024,
  mailboxAgeMs: 5_000,
  restartIntensity: 5,
  restartWindowMs: 60_000,
  backoffMs: 200,
  backoffMaximumMs: 30_000,
  tendSuspendedMs: 60_000,
  stepMs: 5,
  passivateAfterMs: 300_000,
  passivateEveryMs: 10_000,
  awakenPerStep: 20,
  awakenStepMs: 50,
  deadLettersPerShard: 200,
  deadLetterAgeMs: 7 * 24 * 3_600_000,
  clockToleranceMs: 10_000,
  memoryShare: 0.95,
};
