import type { Address } from './address.ts';
import type { Store, Write } from './store.ts';

/**
 * The decision of one turn, as data. None of it has happened yet. The runtime commits the writes behind the fence. It
 * then makes `state` the actor's state, performs the effects and releases the reply.
 */
export interface Turn<State, Effect> {
  /** The actor's next state. If absent, the state is unchanged. */
  readonly state?: State;
  readonly writes?: readonly Write[];
  readonly effects?: readonly Effect[];
  /** The reply to the asker. */
  readonly reply?: unknown;
  /** Runs right after the commit, for large tables that are changed in place (ledgers, windows). Must not throw. */
  readonly committed?: (() => void) | undefined;
}

/**
 * A moment at which the actor gets the command `{ type: 'timer', id }`. Derived from its state, so never lost. An
 * unchanged moment is delivered once. So the turn must change it, for example to the next moment if something due is
 * left.
 */
export interface DueTimer {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly dueAtMs: number;
  /**
   * The least time that the actor waits by the process's monotonic clock, in milliseconds. The timer is due when this
   * time has passed, too. A step of the wall clock cannot shorten it.
   */
  readonly leastMs?: number;
}

/**
 * The reason why an actor stops here. After `reloaded` it is loaded again: after a crash and its backoff, or at once if
 * an operator restarts it. It keeps its resources.
 */
export type DeactivationReason = 'passivated' | 'released' | 'lost' | 'reloaded' | 'suspended';

/** The queue of a mailbox in which a command waits; see `Behaviour.lane`. */
export type Lane = 'client' | 'control';

/** The command that the runtime itself sends to an actor. */
export type RuntimeCommand = { readonly type: 'timer'; readonly id: string };

/** The inputs of a turn in addition to state and command. */
export interface TurnContext<Facts> {
  readonly address: Address;
  /**
   * Wall-clock time of this turn. It is never earlier than the last commit of the shard, unless that commit is far
   * ahead.
   */
  readonly nowMs: number;
  readonly facts: Facts;
}

/**
 * An actor's behaviour, over a state that the runtime keeps. One command at a time:
 * `readFacts` → `turn` → commit → state, effects, reply → next command.
 *
 * `load`, `readFacts` and `suspended` may read the store. `perform` and `deactivated` act on the outside. The others
 * only compute.
 */
export interface Behaviour<State, Command, Effect, Facts = undefined> {
  /** First part of every address of this kind. */
  readonly kind: string;
  /** Rebuilds the state from the committed data. `undefined` means that there is no such actor. */
  load(address: Address, store: Store, nowMs: number): Promise<State | undefined>;
  /**
   * Reads the facts that the turn needs and the state does not hold. Facts in memory are returned directly, because a
   * promise is slow. A `RuntimeFailure` is no crash: a client's caller is rejected, and any other command waits until
   * Redis answers.
   */
  readFacts(
    state: State,
    command: Command | RuntimeCommand,
    context: { readonly address: Address; readonly store: Store; readonly nowMs: number },
  ): Facts | Promise<Facts>;
  /** Decides. Must not change `state`. A throw changes nothing and counts as a crash (see `recover`). */
  turn(state: State, command: Command | RuntimeCommand, context: TurnContext<Facts>): Turn<State, Effect>;
  /**
   * Called if a command or a timer of the lane `control` crashed: its facts or its turn threw, or Redis refused one of
   * its writes. Returns a turn to commit instead, for example one that ends the message being sent as unknown.
   * `undefined` drops the command.
   */
  recover?(
    state: State,
    command: Command | RuntimeCommand,
    context: Omit<TurnContext<Facts>, 'facts'>,
  ): Turn<State, Effect> | undefined;
  /**
   * The lane of a command. `client` commands are bounded: a full mailbox refuses them with `MAILBOX_FULL`, and a throw
   * dead-letters them. `control` commands go first, and a full mailbox takes them too. A throw drops one, unless
   * `recover` returns a turn.
   */
  lane(command: Command | RuntimeCommand): Lane;
  /** The W3C traceparent of the call that sent a command, or undefined if it is not traced. */
  traceOf?(command: Command | RuntimeCommand): string | undefined;
  /** Returns the approximate size of a command in bytes, for the limit of the mailbox. */
  size(command: Command): number;
  /** Called after the commit. Must not throw. Its outcome comes back to the actor as a command. */
  perform(effect: Effect, address: Address): void;
  /** The moments at which the actor acts by itself. They follow from its state, so they are not stored. */
  timers(state: State): readonly DueTimer[];
  /**
   * True while the actor must be active somewhere (a session, work in the queue, a timer that must not be late). It
   * then starts by itself after a restart. It is called with the state that a turn decided, before its commit, and
   * again after `committed`.
   */
  mustLive(state: State): boolean;
  /**
   * The first turn after every activation (process restart, take-over, crash). Settles what a lost process left behind.
   */
  activated(
    state: State,
    context: Omit<TurnContext<undefined>, 'facts'> & { readonly cause: 'activation' | 'crash' },
  ): Turn<State, Effect>;
  /**
   * Returns the writes for an actor that waits for an operator and has no turns. Called when it is suspended or found
   * suspended, and every `RuntimeLimits.checkSuspendedMs` after that.
   *
   * No state is in memory. It never runs while the actor is loaded, and a load waits for its commit. `sinceMs` is the
   * time at which the actor was suspended on this node, in Unix milliseconds. A rejection changes nothing, and the call
   * is repeated. Effects follow the commit; without writes none is performed.
   */
  suspended?(
    address: Address,
    context: { readonly store: Store; readonly nowMs: number; readonly sinceMs: number },
  ): Promise<Pick<Turn<State, Effect>, 'writes' | 'effects'>>;
  /** Called when a graceful hand-over begins: start no new work. Client commands no longer arrive. */
  draining?(state: State, context: Omit<TurnContext<undefined>, 'facts'>): Turn<State, Effect>;
  /** False while work is in progress that a hand-over should wait for, up to `RuntimeLimits.settleMs`. */
  settled?(state: State): boolean;
  /**
   * Returns the writes for state that is in memory only, or `undefined` if there is none. It is the last turn before
   * the actor is stopped here on purpose: hand-over, or an operator's passivation or restart. During it no caller gets
   * the state. An actor that returns a turn is not passivated for being idle. A failed commit is not retried.
   */
  leaving?(
    state: State,
    context: Omit<TurnContext<undefined>, 'facts'>,
  ): Pick<Turn<State, Effect>, 'writes' | 'committed'> | undefined;
  /** Called when the actor stops here (passivation, hand-over, lost shard, crash). Frees its resources on this node. */
  deactivated(state: State, address: Address, reason: DeactivationReason): void;
  /** For operators: JSON without secrets or message texts. */
  describe(state: State): Record<string, unknown>;
}
