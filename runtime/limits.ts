/** The bounds and intervals of the runtime. Every one has a default that suits production; tests shrink some. */
export interface RuntimeLimits {
  /** How long a node that is silent keeps its shards. Take-over after a crash takes this and one claim round. */
  readonly leaseMs: number;
  /** How often the lease is renewed; a few renewals may be missed before it ends. */
  readonly renewEveryMs: number;
  /**
   * How often a node looks for shards to claim or to give away. Changes are announced as well, so this is the
   * fallback.
   */
  readonly claimEveryMs: number;
  /** How long a hand-over waits for an actor's work in progress (docs/decisions/006-sends-are-recalled.md, Context). */
  readonly settleMs: number;
  /** How long Redis may take to answer before the connection is taken for dead and the outcome for unknown. */
  readonly answerMs: number;
  /** How long a control command waits before it is tried again while Redis does not answer. */
  readonly retryMs: number;
  /** Commits under way at once. A shard has one at most, so more help only when many shards are busy. */
  readonly commitsInFlight: number;
  /** Turns of one batch; the rest travels with the next, so that one script never holds Redis for long. */
  readonly batchTurns: number;
  /**
   * The most turns under way on the whole node, from their facts to their reply. If there are as many, client commands
   * are refused. One batch carries as many; more would only wait. An actor has one turn at most, so a busy mailbox
   * cannot block other actors.
   */
  readonly turnsInProgress: number;
  /**
   * While Redis has owed the answer to a batch for longer, client commands are refused, since they would only wait
   * behind it.
   */
  readonly commitAgeMs: number;
  /** Client commands that may wait in one mailbox. */
  readonly mailboxCount: number;
  /** Bytes of client commands that may wait in one mailbox, measured by `Behaviour.size`. */
  readonly mailboxBytes: number;
  /** How long a client command may wait. Behind an older one all others are refused. */
  readonly mailboxAgeMs: number;
  /** Crashes within `restartWindowMs` that are healed by a restart; one more suspends the actor. */
  readonly restartIntensity: number;
  readonly restartWindowMs: number;
  /** Wait before the first restart in the window; doubles with each, up to `backoffMaximumMs`. */
  readonly backoffMs: number;
  readonly backoffMaximumMs: number;
  /** How often an actor that waits for an operator is looked after (`Behaviour.suspended`). */
  readonly tendSuspendedMs: number;
  /**
   * The step of actors' timers and of their sessions' reports, in milliseconds. One timer of the process then serves
   * many of them (docs/decisions/026-shared-wake-ups.md).
   */
  readonly stepMs: number;
  /** An actor that need not live is stopped after this long without a turn. */
  readonly passivateAfterMs: number;
  /** How often idle actors are looked for. */
  readonly passivateEveryMs: number;
  /**
   * Actors that must live and come back after a claim: so many a step, so that sockets are not all opened at
   * once.
   */
  readonly awakenPerStep: number;
  readonly awakenStepMs: number;
  /** Dead letters kept a shard. If there are more, the oldest are dropped. */
  readonly deadLettersPerShard: number;
  /**
   * How long a dead letter is kept, in milliseconds; it may lie about eleven minutes longer (see
   * `FORGETTING_SWEEPS`).
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
