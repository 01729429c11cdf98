import { DAY_MS, MINUTE_MS } from './durations.ts';

/** The bounds and intervals of the runtime. The defaults suit production; tests shrink some. */
export const DEFAULT_LIMITS = {
  /**
   * The time in milliseconds after which other nodes may take the shards of a silent node. A take-over after a crash
   * takes this time and one claim round.
   */
  leaseMs: 5_000,
  /** How often the lease is renewed; a few renewals may be missed before it ends. */
  renewEveryMs: 1_000,
  /**
   * Interval of the rounds that claim shards and give shards away. Changes are also announced, so this is the fallback.
   */
  claimEveryMs: 1_000,
  /** How long a hand-over waits for an actor's work in progress (docs/decisions/006-sends-are-recalled.md, Context). */
  settleMs: 1_500,
  /** The longest time in which Redis may answer. After it, the connection counts as dead and the outcome as unknown. */
  answerMs: 2_000,
  /** Delay after which a control command is retried while Redis does not answer. */
  retryMs: 200,
  /** Commits under way at once. A shard has one at most, so more help only when many shards are busy. */
  commitsInFlight: 2,
  /** Turns of one group of commits. The others go with the next group, so that no script blocks Redis for long. */
  groupTurns: 512,
  /**
   * The most turns under way on the whole node, from their facts to their reply. At this limit, client commands are
   * refused. One group of commits carries this number; more turns would only wait. An actor has one turn at most, so a
   * busy mailbox cannot block other actors.
   */
  turnsInProgress: 512,
  /**
   * While the oldest group of commits has waited for Redis longer than this, client commands are refused. They would
   * only wait for that group.
   */
  commitAgeMs: 1_000,
  /** Client commands that may wait in one mailbox. */
  mailboxCount: 1_024,
  /** Bytes of client commands that may wait in one mailbox, measured by `Behaviour.size`. */
  mailboxBytes: 4 * 1024 * 1024,
  /** The longest time that a client command may wait. While the oldest one has waited longer, new ones are refused. */
  mailboxAgeMs: 5_000,
  /** Crashes within `restartWindowMs` that lead to a restart. One more suspends the actor. */
  restartIntensity: 5,
  restartWindowMs: MINUTE_MS,
  /** Wait before the first restart in the window; doubles with each. */
  backoffMs: 200,
  /** Wait before an actor is loaded again whose state a newer program stored. */
  newerStateRetryMs: 30_000,
  /** Interval of `Behaviour.suspended` for an actor that waits for an operator. */
  checkSuspendedMs: MINUTE_MS,
  /**
   * The step of actors' timers and of their sessions' reports, in milliseconds. One timer of the process then serves
   * many of them (docs/decisions/026-shared-wake-ups.md).
   */
  stepMs: 5,
  /** An actor that need not live is removed from memory after this long without a turn. The next command loads it. */
  passivateAfterMs: 5 * MINUTE_MS,
  /** Interval of the search for idle actors. */
  passivateEveryMs: 10_000,
  /** Actors activated per step after a claim. The limit prevents that all sockets are opened at once. */
  awakenPerStep: 20,
  awakenStepMs: 50,
  /** Dead letters kept for each shard. If there are more, the oldest are dropped. */
  deadLettersPerShard: 200,
  /**
   * How long a dead letter is kept, in milliseconds. It may stay about eleven minutes longer (see `FORGETTING_SWEEPS`).
   */
  deadLetterAgeMs: 7 * DAY_MS,
  /**
   * The largest difference between this node's clock and that of Redis. Above it the node owns nothing until they
   * agree. It is well above a reply's delay (`answerMs`) and NTP's error, and well below the shortest window (a
   * minute).
   */
  clockToleranceMs: 10_000,
  /**
   * Share of `maxmemory`, of the fullest server, above which client commands are refused. Control commands still fit.
   */
  memoryShare: 0.95,
};

/** The bounds and intervals of a node. */
export type RuntimeLimits = Readonly<typeof DEFAULT_LIMITS>;
