import type { Address } from './address.ts';
import type { Store, Write } from './store.ts';

/**
 * What one turn decided, as data. Nothing of it has happened yet: the runtime commits the writes behind the fence,
 * then makes `state` the actor's state, then performs the effects, then releases the reply.
 */
export interface Turn<State, Effect> {
  /** The actor's next state. Absent: unchanged. */
  readonly state?: State;
  readonly writes?: readonly Write[];
  readonly effects?: readonly Effect[];
  /** What the asker gets. */
  readonly reply?: unknown;
  /** Runs right after the commit, for large tables that are changed in place (ledgers, windows). Must not throw. */
  readonly committed?: (() => void) | undefined;
}

/** A moment at which the actor wants to be told `{ type: 'timer', id }`. Derived from its state, so never lost. */
export interface DueTimer {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly dueAtMs: number;
}

/** Why an actor stops here. After `crashed` it is loaded again at once, or after a backoff. */
export type DeactivationReason = 'passivated' | 'released' | 'lost' | 'crashed' | 'suspended';

/** The queue of a mailbox in which a command waits; see `Behaviour.lane`. */
export type Lane = 'client' | 'control';

/** What the runtime tells every actor by itself. */
export type RuntimeCommand = { readonly type: 'timer'; readonly id: string };

/** What a turn may know beside state and command. */
export interface TurnContext<Facts> {
  readonly address: Address;
  /** Wall-clock time of this turn; never behind the last commit of the shard. */
  readonly nowMs: number;
  readonly facts: Facts;
}

/**
 * An actor's behaviour: pure decisions over a state the runtime keeps. One command at a time:
 * `prepare` → `turn` → commit → state, effects, reply → next command.
 */
export interface Behaviour<State, Command, Effect, Facts = undefined> {
  /** First part of every address of this kind. */
  readonly kind: string;
  /** Rebuilds the state from what the commits wrote. `undefined`: there is no such actor. */
  load(address: Address, store: Store, nowMs: number): Promise<State | undefined>;
  /**
   * Reads what the turn needs to know and the state does not hold. Facts that are at hand are returned as they are:
   * a promise costs the hot path. A `RuntimeFailure` is passed on to the asker and is no crash.
   */
  prepare(
    state: State,
    command: Command | RuntimeCommand,
    context: { readonly address: Address; readonly store: Store; readonly nowMs: number },
  ): Facts | Promise<Facts>;
  /** Decides. Must not change `state`. A throw changes nothing and counts as a crash (see `recover`). */
  turn(state: State, command: Command | RuntimeCommand, context: TurnContext<Facts>): Turn<State, Effect>;
  /**
   * When a turn threw on a command that was no client's: what to do in its place (settle the message in hand as
   * unknown). `undefined`: drop the command.
   */
  recover?(
    state: State,
    command: Command | RuntimeCommand,
    context: TurnContext<Facts>,
  ): Turn<State, Effect> | undefined;
  /** `client` commands are bounded, answered 503 when there is no room and dead-lettered when they throw; `control` ones are never dropped and go first. */
  lane(command: Command | RuntimeCommand): Lane;
  /** The W3C traceparent of the call that asked for a command; undefined: it is not traced. */
  traceOf?(command: Command | RuntimeCommand): string | undefined;
  /** Roughly how many bytes a command holds, for the mailbox's bound. */
  size(command: Command): number;
  /** Called once the commit holds. Must not throw; what comes of it is told to the actor as a command. */
  perform(effect: Effect, address: Address): void;
  /** The moments this state waits for. */
  timers(state: State): readonly DueTimer[];
  /**
   * True while the actor must be active somewhere (a session, work in the queue, a timer that must not be late): it
   * comes back by itself after a restart. Asked before each commit of the state the turn decided, and again after
   * `committed`.
   */
  mustLive(state: State): boolean;
  /** The first turn after every activation (process restart, take-over, crash). Settles what a lost process left behind. */
  activated(
    state: State,
    context: Omit<TurnContext<undefined>, 'facts'> & { readonly cause?: 'activation' | 'crash' },
  ): Turn<State, Effect>;
  /**
   * What is to be stored of an actor that waits for an operator, whose turns do not come: asked when it is suspended or
   * found so, and now and then after that (`RuntimeLimits.tendSuspendedMs`), never while it is loaded, and a load waits
   * for its commit. Nothing is in memory; `sinceMs`: since when it is suspended on this node, Unix epoch. A rejection
   * changes nothing, and it is asked again. Effects follow the commit.
   */
  suspended?(
    address: Address,
    context: { readonly store: Store; readonly nowMs: number; readonly sinceMs: number },
  ): Promise<Pick<Turn<State, Effect>, 'writes' | 'effects'>>;
  /** A graceful hand-over begins: stop starting new work. Client commands no longer come. */
  draining?(state: State, context: Omit<TurnContext<undefined>, 'facts'>): Turn<State, Effect>;
  /** False while something is in hand that a hand-over should wait for, up to `RuntimeLimits.settleMs`. */
  settled?(state: State): boolean;
  /**
   * What is to be stored of what is in memory only, or `undefined`: the last turn before the actor is stopped here on
   * purpose (hand-over, an operator's passivation or restart), during which nobody is given its state. An idle actor that
   * answers a turn is not passivated. A commit that fails is not tried again.
   */
  leaving?(
    state: State,
    context: Omit<TurnContext<undefined>, 'facts'>,
  ): Pick<Turn<State, Effect>, 'writes' | 'committed'> | undefined;
  /** The actor is being stopped here (passivation, hand-over, lost shard, crash): free what it holds on this node. */
  deactivated(state: State, address: Address, reason: DeactivationReason): void;
  /** For operators: JSON without secrets or message texts. */
  describe(state: State): Record<string, unknown>;
}
