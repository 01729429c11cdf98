import { type Address, addressText, shardKey } from '../address.ts';
import type { Turn } from '../behaviour.ts';
import { type Commitment, type CommitmentOutcome, FailedWrite } from '../ownership/commitment.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { checkWrites } from '../ownership/turn-writes.ts';
import { movedAwayFailure, outcomeUnknownFailure, RuntimeFailure } from '../runtime-failure.ts';
import type { Write } from '../store.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';
import type { Envelope } from './mailbox.ts';

type AnyTurn = Turn<unknown, unknown>;

/** The owner of the turns. It is notified of each turn's outcome. */
export interface TurnListener {
  /** True if commands of clients wait until the turn under way is over. */
  readonly isAwaited: boolean;
  /**
   * The turn is committed, its effects are performed and its reply is sent. `fault` is the error that `committed`
   * threw.
   */
  onEffective(envelope: Envelope, turn: AnyTurn, fault: unknown): void;
  /**
   * The turn threw, so none of its writes were applied. Or Redis refused one of its writes, and the others were
   * applied. In both cases its state, effects and reply are dropped. The cycle stays busy until the listener calls
   * `finish`, or `recover` for another turn.
   */
  onCrash(envelope: Envelope, error: unknown): void;
  /** The turn's facts could not be read, or Redis did not apply its writes. The cycle is free already. */
  onUncommitted(envelope: Envelope, message: string): void;
  /** The cycle is free for the next. */
  onFree(): void;
}

const NO_WRITES: readonly Write[] = [];

/**
 * One actor's turns, one at a time: facts, decision, commit, and only then state, effects and reply. One object
 * serves all turns of an actor, so that a turn makes no closure (docs/decisions/012-value-or-promise.md, Closures and
 * arrays).
 */
export class TurnCycle implements Commitment {
  /** The last committed state, or `undefined` while none is in memory. */
  state: unknown;
  /** Writes of the turn under way, for the group commit. */
  writes: readonly Write[] = NO_WRITES;
  /** When the last turn began; before the first, when the actor was made. Monotonic. */
  startedMs: number;

  readonly #address: Address;
  /** The address as text, for logs and the sets of its shard. */
  readonly #name: string;
  readonly #shard: OwnedShard;
  readonly #behaviour: AnyBehaviour;
  readonly #surroundings: ActorSurroundings;
  readonly #listener: TurnListener;
  /** The envelope of the turn under way, or `undefined` between turns. */
  #current: Envelope | undefined;
  /** The turn's decision, once it is made. */
  #turn: AnyTurn | undefined;
  /** Set if the turn adds the actor to the shard's `awake` set, or removes the actor from it. */
  #awakeChange: 'add' | 'remove' | undefined;
  /** The time at which its writes were passed to the group commit. Set only if turns are traced. */
  #commitMs: number | undefined;
  /** True if the turn was committed while the lease was not valid. It takes effect when the lease is valid again. */
  #isHeld = false;
  /** Rises with every turn. Facts that arrive for an abandoned turn are recognised by it. */
  #serial = 0;

  constructor(
    actor: { readonly address: Address; readonly shard: OwnedShard; readonly behaviour: AnyBehaviour },
    surroundings: ActorSurroundings,
    listener: TurnListener,
  ) {
    this.#address = actor.address;
    this.#name = addressText(actor.address);
    this.#shard = actor.shard;
    this.#behaviour = actor.behaviour;
    this.#surroundings = surroundings;
    this.#listener = listener;
    this.startedMs = surroundings.clock.monotonicMs();
  }

  /** True if no caller waits for the turn under way, or for a later one. Its writes may then wait for others. */
  get mayWait(): boolean {
    const envelope = this.#current;
    const isOwn = envelope?.kind === 'command' || envelope?.kind === 'timer';
    return isOwn && envelope.asker === undefined && !this.#listener.isAwaited;
  }

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /**
   * True if some state is in memory only (`Behaviour.leaving`). Also true if the behaviour throws: the turn that stores
   * the state then handles the error.
   */
  get hasToStore(): boolean {
    if (this.state === undefined) return false;
    try {
      const context = { address: this.#address, nowMs: this.#nowMs() };
      return this.#behaviour.leaving?.(this.state, context) !== undefined;
    } catch {
      return true;
    }
  }

  /** Runs the turn for an envelope, as far as it goes without waiting. `startedMs` is the current monotonic time. */
  begin(envelope: Envelope, startedMs: number): void {
    this.#current = envelope;
    this.#surroundings.inProgress.turns += 1;
    this.#serial += 1;
    this.startedMs = startedMs;
    const nowMs = this.#nowMs();
    if (envelope.kind === 'command' || envelope.kind === 'timer') this.#readFacts(envelope, nowMs);
    else this.#decide(envelope, undefined, nowMs);
  }

  #readFacts(envelope: Envelope, nowMs: number): void {
    const { store } = this.#surroundings;
    let facts: unknown;
    try {
      const context = { address: this.#address, store, nowMs };
      facts = this.#behaviour.readFacts(this.state, envelope.command, context);
    } catch (error) {
      this.#onUnreadFacts(envelope, error);
      return;
    }
    if (facts instanceof Promise) void this.#decideLater(envelope, facts);
    else this.#decide(envelope, facts, nowMs);
  }

  async #decideLater(envelope: Envelope, facts: Promise<unknown>): Promise<void> {
    const serial = this.#serial;
    try {
      const knownFacts = await facts;
      if (this.#isCurrent(serial)) this.#decide(envelope, knownFacts, this.#nowMs());
    } catch (error) {
      if (this.#isCurrent(serial)) this.#onUnreadFacts(envelope, error);
    }
    if (!this.isBusy) this.#listener.onFree();
  }

  #isCurrent(serial: number): boolean {
    return serial === this.#serial && this.#current !== undefined;
  }

  /**
   * A failure of the runtime does not count as a crash. A client's caller is rejected; any other command waits until
   * Redis answers.
   */
  #onUnreadFacts(envelope: Envelope, error: unknown): void {
    if (!(error instanceof RuntimeFailure)) {
      this.#listener.onCrash(envelope, error);
    } else if (envelope.lane === 'client') {
      this.finish();
      envelope.asker?.reject(error);
    } else {
      this.finish();
      this.#listener.onUncommitted(envelope, error.message);
    }
  }

  #decide(envelope: Envelope, facts: unknown, nowMs: number): void {
    try {
      this.#adopt(this.#run(envelope, facts, nowMs));
    } catch (error) {
      this.#listener.onCrash(envelope, error);
      return;
    }
    this.#submit();
  }

  #run(envelope: Envelope, facts: unknown, nowMs: number): AnyTurn {
    const address = this.#address;
    switch (envelope.kind) {
      case 'command':
      case 'timer':
        return this.#behaviour.turn(this.state, envelope.command, { address, nowMs, facts });
      case 'activated':
        return this.#behaviour.activated(this.state, { address, nowMs, cause: 'activation' });
      case 'reactivated':
        return this.#behaviour.activated(this.state, { address, nowMs, cause: 'crash' });
      case 'draining':
        return this.#behaviour.draining?.(this.state, { address, nowMs }) ?? {};
      case 'leaving':
        return this.#behaviour.leaving?.(this.state, { address, nowMs }) ?? {};
      case 'sync':
        return {};
    }
  }

  /**
   * Runs the behaviour's turn that replaces one that crashed. Returns false if the behaviour has none. Throws if the
   * behaviour throws.
   */
  recover(envelope: Envelope): boolean {
    const context = { address: this.#address, nowMs: this.#nowMs() };
    const turn = this.#behaviour.recover?.(this.state, envelope.command, context);
    if (turn === undefined) return false;
    this.#adopt(turn);
    this.#submit();
    return true;
  }

  /** Takes over the decision and adds the writes of the runtime. Throws if the behaviour throws. */
  #adopt(turn: AnyTurn): void {
    this.writes = turn.writes ?? NO_WRITES;
    checkWrites(this.#shard.number, this.writes);
    this.#awakeChange = undefined;
    if (turn.state !== undefined || this.#current?.kind !== 'command') {
      const mustLive = this.#behaviour.mustLive(turn.state ?? this.state);
      if (mustLive !== this.#shard.awake.has(this.#name)) {
        this.#awakeChange = mustLive ? 'add' : 'remove';
        const key = shardKey(this.#shard.number, 'awake');
        this.writes = [...this.writes, [mustLive ? 'SADD' : 'SREM', key, this.#name]];
      }
    }
    this.#turn = turn;
  }

  /** Commits the turn's writes. A turn without writes takes effect at once. */
  #submit(): void {
    const { clock, commits, observer } = this.#surroundings;
    if (observer?.traced !== undefined)
      this.#commitMs = this.writes.length === 0 ? undefined : clock.monotonicMs();
    if (this.writes.length === 0) this.#takeEffect();
    else commits.add(this.#shard, this);
  }

  /** Called by the group commit with the outcome of the writes. */
  onSettled(outcome: CommitmentOutcome, message?: string): void {
    const envelope = this.#current;
    if (this.#turn === undefined || envelope === undefined) return;
    switch (outcome) {
      case 'committed':
        this.#takeEffect();
        break;
      case 'unknown':
        // The asker need not wait until the outcome is known; the actor must.
        envelope.asker?.reject(outcomeUnknownFailure('the commit was sent and not confirmed'));
        return;
      case 'unavailable':
        this.finish();
        this.#listener.onUncommitted(envelope, message ?? 'Redis cannot be reached');
        break;
      case 'failed':
        this.#listener.onCrash(envelope, new FailedWrite(message));
        break;
      case 'fenced':
        // The actor is stopped next. Until then it begins no turn, not even one that the fence would not see.
        this.finish();
        envelope.asker?.reject(movedAwayFailure());
        return;
    }
    if (!this.isBusy) this.#listener.onFree();
  }

  /** Applies a committed turn: state, then effects, then the reply. */
  #takeEffect(): void {
    const turn = this.#turn as AnyTurn;
    const envelope = this.#current as Envelope;
    const { clock, counters, mayAct, observer } = this.#surroundings;
    if (!mayAct(this.#shard)) {
      // Another node may be taking the shard over; effects of the commit wait until that is known.
      this.#isHeld = true;
      envelope.asker?.reject(outcomeUnknownFailure('the lease ended during the commit'));
      return;
    }
    const fault = this.#applyState(turn);
    for (const effect of turn.effects ?? []) this.#perform(effect);
    counters.turns += 1;
    observer?.turned?.(this.#behaviour.kind, clock.monotonicMs() - this.startedMs);
    if (observer?.traced !== undefined) this.#trace(envelope);
    this.finish();
    envelope.asker?.resolve(turn.reply);
    this.#listener.onEffective(envelope, turn, fault);
  }

  #trace({ command }: Envelope): void {
    const { clock, observer } = this.#surroundings;
    const traceparent = command === undefined ? undefined : this.#behaviour.traceOf?.(command);
    if (traceparent === undefined) return;
    const endMs = clock.wallMs();
    const sinceMs = endMs - clock.monotonicMs();
    const commitMs = this.#commitMs === undefined ? undefined : sinceMs + this.#commitMs;
    const { kind } = this.#behaviour;
    observer?.traced?.({ kind, traceparent, startMs: sinceMs + this.startedMs, commitMs, endMs });
  }

  /** Returns the error that `committed` threw. It must not throw. */
  #applyState(turn: AnyTurn): unknown {
    if (this.#awakeChange === 'add') this.#shard.awake.add(this.#name);
    if (this.#awakeChange === 'remove') this.#shard.awake.delete(this.#name);
    if (turn.state !== undefined) this.state = turn.state;
    try {
      turn.committed?.();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #perform(effect: unknown): void {
    try {
      this.#behaviour.perform(effect, this.#address);
    } catch (error) {
      const { counters, log } = this.#surroundings;
      counters.effectFailures += 1;
      log.error({ actor: this.#name, err: error }, 'an effect threw, which no effect may do');
    }
  }

  /** Applies a turn that was committed while the lease was not valid. */
  onLeaseRegained(): void {
    if (this.#isHeld) this.#takeEffect();
  }

  /** Ends the turn under way without effect and rejects its caller. */
  abandon(): void {
    const envelope = this.#current;
    const isCommitting = this.#turn !== undefined;
    this.finish();
    envelope?.asker?.reject(
      isCommitting ? outcomeUnknownFailure('the shard was lost during the commit') : movedAwayFailure(),
    );
  }

  /** Ends the turn under way, with any outcome. */
  finish(): void {
    if (this.#current !== undefined) this.#surroundings.inProgress.turns -= 1;
    this.#current = undefined;
    this.#turn = undefined;
    this.#isHeld = false;
    this.writes = NO_WRITES;
  }

  #nowMs(): number {
    return this.#shard.nowMs(this.#surroundings.clock);
  }
}
