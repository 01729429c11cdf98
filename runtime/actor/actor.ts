import type { ActorSnapshot, ActorSummary } from '../actors.ts';
import { type Address, addressText } from '../address.ts';
import type { DeactivationReason, RuntimeCommand, Turn } from '../behaviour.ts';
import { errorText } from '../described-error.ts';
import type { ActiveActor, Asker } from '../ownership/active-actor.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import {
  movedAwayFailure,
  NewerState,
  poisonedFailure,
  RuntimeFailure,
  suspendedFailure,
  unavailableFailure,
} from '../runtime-failure.ts';
import { ActivationGate } from './activation-gate.ts';
import { ActorResources } from './actor-resources.ts';
import { type ActorStatus, commandRefusal, snapshotOf, summaryOf } from './actor-status.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';
import { ActorTimers, type TimedActor } from './actor-timers.ts';
import { type DispatchedActor, Dispatcher } from './dispatcher.ts';
import { commandEnvelope, type Envelope, Mailbox, ownEnvelope } from './mailbox.ts';
import { Recovery } from './recovery.ts';
import { RestartableTimer } from './restartable-timer.ts';
import { Supervision } from './supervision.ts';
import { SuspendedChecks } from './suspended-checks.ts';
import { TurnCycle, type TurnListener } from './turn-cycle.ts';
import { Waiters } from './waiters.ts';

/**
 * One actor's life: a mailbox, turns one at a time, timers and crashes. A turn that throws changes nothing. A client's
 * command is then dead-lettered; for any other command the behaviour may act instead. The actor then loads its last
 * commit again, after a delay. After too many crashes it waits until an operator resumes it.
 */
export class Actor implements ActiveActor, TurnListener, DispatchedActor, TimedActor {
  readonly #address: Address;
  /** The address as text, for logs and the sets of its shard. */
  readonly #name: string;
  readonly #shard: OwnedShard;
  readonly #behaviour: AnyBehaviour;
  readonly #surroundings: ActorSurroundings;
  readonly #mailbox: Mailbox;
  readonly #cycle: TurnCycle;
  readonly #dispatcher: Dispatcher;
  readonly #timers: ActorTimers;
  readonly #supervision: Supervision;
  readonly #recovery: Recovery;
  readonly #resources: ActorResources;
  /** Rises with each load and each stop, which make the result of an earlier load void. */
  #loads = 0;
  /** Set from the first suspension on. */
  #suspendedChecks: SuspendedChecks | undefined;
  #status: ActorStatus = 'loading';
  readonly #gate = new ActivationGate();
  /** Set while the actor cannot be loaded because a newer program stored its state. */
  #newer: NewerState | undefined;
  /** Runs while the actor waits: for Redis, or before it is started again. */
  readonly #timer: RestartableTimer;
  readonly #turnWaiters = new Waiters();

  constructor(address: Address, shard: OwnedShard, behaviour: AnyBehaviour, surroundings: ActorSurroundings) {
    this.#address = address;
    this.#name = addressText(address);
    this.#shard = shard;
    this.#behaviour = behaviour;
    this.#surroundings = surroundings;
    this.#mailbox = new Mailbox(surroundings);
    this.#cycle = new TurnCycle({ address, shard, behaviour }, surroundings, this);
    const parts = { name: this.#name, shard, mailbox: this.#mailbox, cycle: this.#cycle };
    this.#dispatcher = new Dispatcher(parts, surroundings, this);
    this.#timers = new ActorTimers(surroundings.steppedClock, this);
    this.#supervision = new Supervision(this.#name, surroundings);
    this.#recovery = new Recovery(this.#cycle, this.#supervision);
    this.#resources = new ActorResources(address, behaviour, surroundings.log);
    this.#timer = new RestartableTimer(surroundings.clock);
    if (shard.suspended.has(this.#name)) this.#waitForOperator();
    else this.#load();
  }

  get state(): unknown {
    return this.#cycle.state;
  }

  get #mustLive(): boolean {
    if (this.state === undefined) return this.#shard.awake.has(this.#name);
    return this.#behaviour.mustLive(this.state);
  }

  get isAwaited(): boolean {
    return this.#mailbox.hasClients;
  }

  get isEnding(): boolean {
    return this.#status === 'restarting' || this.#status === 'stopping';
  }

  get isSettled(): boolean {
    if (this.#status !== 'active') return !this.isEnding;
    return !this.#dispatcher.isAtWork && (this.#behaviour.settled?.(this.state) ?? true);
  }

  get isNeeded(): boolean {
    return this.#dispatcher.isAtWork || this.#mustLive;
  }

  mayPassivate(nowMs: number): boolean {
    const idleMs = nowMs - this.#cycle.startedMs;
    const isIdle = this.#status === 'active' && idleMs >= this.#surroundings.limits.passivateAfterMs;
    return isIdle && !this.isNeeded && !this.#cycle.hasToStore;
  }

  offer(command: unknown, asker?: Asker): void {
    const nowMs = this.#surroundings.clock.monotonicMs();
    const envelope = commandEnvelope(command, this.#behaviour, nowMs, asker);
    const refusal = commandRefusal(envelope.lane, this.#status, this.#shard, this.#timer.isRunning);
    this.#dispatcher.offer(envelope, refusal);
  }

  get isReady(): boolean {
    return this.#status === 'active' && !this.#timer.isRunning;
  }

  whenActive(): unknown {
    if (this.#gate.isReady && !this.isEnding) return this.state;
    if (this.#status === 'stopping' || this.#status === 'stopped') return Promise.reject(movedAwayFailure());
    if (this.#status === 'suspended') return Promise.reject(suspendedFailure());
    // The next load is half a minute away, longer than callers wait.
    if (this.#newer !== undefined) return Promise.reject(this.#newer);
    return this.#gate.wait();
  }

  isWanted({ kind, command }: Envelope): boolean {
    // An activation envelope that was put back gives way to the one of a later start.
    if (kind === 'activated' || kind === 'reactivated') return !this.#gate.isReady;
    if (kind !== 'timer') return true;
    return this.#timers.confirm((command as RuntimeCommand).id, this.#shard.nowMs(this.#surroundings.clock));
  }

  onFree(): void {
    if (this.isEnding) this.#turnWaiters.resolveAll();
    this.#dispatcher.pump();
  }

  onEffective(envelope: Envelope, turn: Turn<unknown, unknown>, fault: unknown): void {
    const hasChanged = turn.state !== undefined || turn.committed !== undefined;
    const crash = fault ?? (hasChanged ? this.#followState(turn) : undefined);
    if (crash !== undefined) this.#supervision.note(crash);
    if (envelope.kind === 'activated' || envelope.kind === 'reactivated') this.#gate.onReached(this.state);
    if (this.isEnding) this.#turnWaiters.resolveAll();
    else if (crash !== undefined || this.#recovery.isUnderWay) this.#restart();
  }

  /** Updates the timers and the mark `awake` by the state. Returns the error that the behaviour threw. */
  #followState(turn: Turn<unknown, unknown>): unknown {
    try {
      this.#timers.update(this.#behaviour.timers(this.state));
      // A change that `committed` made in place may also change the answer.
      if (turn.committed && this.#mustLive !== this.#shard.awake.has(this.#name))
        this.#dispatcher.enqueue('sync');
      return undefined;
    } catch (error) {
      return error;
    }
  }

  onUncommitted(envelope: Envelope, message: string): void {
    this.#recovery.onUncommitted(envelope);
    if (this.#status === 'stopping') {
      envelope.asker?.reject(movedAwayFailure());
    } else if (envelope.lane === 'client') {
      envelope.asker?.reject(unavailableFailure(message));
    } else {
      this.#mailbox.putBack(envelope);
      this.#refuseWaiting(message);
      this.#timer.start(this.#surroundings.limits.retryMs, () => this.#dispatcher.pump());
    }
  }

  /** Refuses all callers that wait for a turn or the state, because Redis does not answer. */
  #refuseWaiting(message: string): void {
    this.#mailbox.refuseClients(unavailableFailure(message));
    this.#gate.refuse(unavailableFailure(message));
  }

  timerDue(id: string): void {
    this.#dispatcher.enqueue('timer', { type: 'timer', id });
    this.#dispatcher.pump();
  }

  drain(): void {
    this.#mailbox.refuseClients(movedAwayFailure());
    this.#dispatcher.enqueue('draining');
    this.#dispatcher.pump();
  }

  onLeaseExpired(): void {
    this.#dispatcher.refuseWaiting();
  }

  onLeaseRegained(): void {
    this.#cycle.onLeaseRegained();
    this.#dispatcher.pump();
  }

  #load(): void {
    this.#status = 'loading';
    this.#loads += 1;
    const serial = this.#loads;
    void this.#readState().then(
      (state) => serial === this.#loads && this.#stateLoaded(state),
      (error) => serial === this.#loads && this.#onLoadFailure(error),
    );
  }

  async #readState(): Promise<unknown> {
    await this.#suspendedChecks?.stop();
    const { store, clock } = this.#surroundings;
    return this.#behaviour.load(this.#address, store, this.#shard.nowMs(clock));
  }

  #stateLoaded(state: unknown): void {
    if (state === undefined) {
      this.#mailbox.answerWithDefault();
      this.#gate.onReached(undefined);
      this.#surroundings.marks.leaveAwake(this.#shard, this.#name);
      this.dispose('passivated');
      return;
    }
    this.#surroundings.counters.activations += 1;
    this.#cycle.state = state;
    this.#newer = undefined;
    this.#resources.taken();
    this.#status = 'active';
    try {
      this.#timers.update(this.#behaviour.timers(state));
    } catch (error) {
      this.#crashedAlone(error);
      return;
    }
    // Goes before everything that waited for the activation.
    const nowMs = this.#surroundings.clock.monotonicMs();
    this.#mailbox.putBack(ownEnvelope(this.#gate.occasion, undefined, nowMs));
    this.#dispatcher.pump();
  }

  #onLoadFailure(error: unknown): void {
    if (!(error instanceof RuntimeFailure)) {
      this.#crashedAlone(error);
      return;
    }
    this.#refuseWaiting(error.message);
    this.#newer = error instanceof NewerState ? error : undefined;
    // No caller waits for the actor and nothing needs it. The next request loads it.
    if (!this.isNeeded) {
      this.dispose('passivated');
      return;
    }
    const { limits, log } = this.#surroundings;
    if (this.#newer !== undefined)
      log.error({ actor: this.#name, err: error }, 'an actor waits for a newer program');
    const waitMs = this.#newer === undefined ? limits.retryMs : limits.newerStateRetryMs;
    this.#timer.start(waitMs, () => this.#load());
  }

  /** Called if the behaviour threw outside of any turn. */
  #crashedAlone(error: unknown): void {
    this.#supervision.note(error);
    this.#restart();
  }

  onCrash(envelope: Envelope, error: unknown): void {
    this.#recovery.note(envelope, error);
    if (envelope.lane === 'client') {
      this.#surroundings.deadLetter(this.#shard, this.#address, envelope.command, errorText(error));
    } else if (this.#recovery.begin(envelope)) {
      return;
    }
    this.#cycle.finish();
    envelope.asker?.reject(poisonedFailure());
    if (!this.isEnding) this.#restart();
  }

  /** Throws the state away and loads it again after a wait, or suspends the actor when it crashed too often. */
  #restart(): void {
    const decision = this.#supervision.decide();
    if (decision === 'suspend') {
      this.#suspend();
      return;
    }
    this.#unload('reloaded');
    this.#status = 'backoff';
    this.#timer.start(decision.restartInMs, () => this.#load());
  }

  #suspend(): void {
    this.#unload('suspended');
    this.#waitForOperator();
    this.#mailbox.clear(suspendedFailure());
    this.#gate.refuse(suspendedFailure());
    this.#surroundings.marks.suspend(this.#shard, this.#name);
  }

  #waitForOperator(): void {
    const actor = { address: this.#address, shard: this.#shard, behaviour: this.#behaviour };
    this.#suspendedChecks ??= new SuspendedChecks(actor, this.#surroundings);
    this.#suspendedChecks.start();
    this.#status = 'suspended';
  }

  resume(): void {
    this.#supervision.forget();
    if (this.#status !== 'backoff' && this.#status !== 'suspended') return;
    this.#timer.cancel();
    if (this.#surroundings.marks.resume(this.#shard, this.#name)) this.#gate.startOver();
    this.#load();
  }

  async restart(): Promise<void> {
    if (this.#status === 'active') this.#status = 'restarting';
    if (!this.isEnding) return;
    await this.#leave();
    // An earlier restart may have loaded it by now, and a stop goes before a restart.
    if (this.#status !== 'restarting') return;
    this.#unload('reloaded');
    this.#load();
  }

  async stop(reason: DeactivationReason): Promise<void> {
    if (this.#status === 'stopped') return;
    this.#status = 'stopping';
    await this.#leave();
    this.dispose(reason);
  }

  /** Waits for the turn under way, then stores the state that is in memory only. */
  async #leave(): Promise<void> {
    while (this.#cycle.isBusy) await this.#turnWaiters.wait();
    if (!this.isEnding || !this.#surroundings.mayAct(this.#shard) || !this.#cycle.hasToStore) return;
    const nowMs = this.#surroundings.clock.monotonicMs();
    this.#cycle.begin(ownEnvelope('leaving', undefined, nowMs), nowMs);
    while (this.#cycle.isBusy) await this.#turnWaiters.wait();
  }

  dispose(reason: DeactivationReason): void {
    if (this.#status === 'stopped') return;
    this.#status = 'stopped';
    if (this.#shard.actors.get(this.#name) === this) this.#shard.actors.delete(this.#name);
    this.#cycle.abandon();
    this.#unload(reason);
    this.#mailbox.clear(movedAwayFailure());
    this.#gate.refuse(movedAwayFailure());
    this.#turnWaiters.resolveAll();
  }

  /** Forgets the state, and stops its timers. */
  #unload(reason: DeactivationReason): void {
    const { state } = this;
    this.#loads += 1;
    void this.#suspendedChecks?.stop();
    this.#timer.cancel();
    this.#recovery.end();
    this.#gate.onLost();
    this.#timers.cancel();
    this.#cycle.state = undefined;
    this.#resources.left(state, reason);
  }

  summary(): ActorSummary {
    const parts = { mailbox: this.#mailbox, restarts: this.#supervision.recentCrashes, state: this.state };
    return summaryOf(this.#address, this.#status, parts, this.#surroundings.clock.monotonicMs());
  }

  snapshot(owner: { readonly nodeId: string; readonly epoch: number }): ActorSnapshot {
    return snapshotOf(this.summary(), {
      owner,
      mailboxBytes: this.#mailbox.bytes,
      timers: this.#timers.list,
      lastError: this.#supervision.lastError,
      describe: (state) => this.#behaviour.describe(state),
    });
  }
}
