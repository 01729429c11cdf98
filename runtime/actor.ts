import { ActorTimers } from './actor-timers.ts';
import type { ActorSnapshot } from './actors.ts';
import { type Address, addressText, shardKey } from './address.ts';
import type { Behaviour, DeactivationReason, RuntimeCommand, Turn } from './behaviour.ts';
import type { ArmedTimer, Clock } from './clock.ts';
import type { Commitment, CommitmentOutcome, GroupCommit } from './group-commit.ts';
import type { RuntimeLimits } from './limits.ts';
import type { Logger } from './logger.ts';
import { type Envelope, type EnvelopeKind, Mailbox } from './mailbox.ts';
import type { RuntimeCounters, RuntimeObserver } from './observer.ts';
import type { OwnedShard } from './owned-shard.ts';
import { RestartPolicy } from './restart-policy.ts';
import { RuntimeFailure } from './runtime-failure.ts';
import type { Store, Write } from './store.ts';
import { checkWrites } from './turn-writes.ts';

/** A behaviour whose types are its own affair. */
export type AnyBehaviour = Behaviour<unknown, unknown, unknown, unknown>;

/** What all actors of a node share. */
export interface ActorSurroundings {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly observer: RuntimeObserver | undefined;
  readonly store: Store;
  readonly commits: GroupCommit;
  /** Whether this node may act for the shard now: the lease holds, and nobody is known to have taken it. */
  readonly mayAct: (shard: OwnedShard) => boolean;
  /** Keeps a client command that made an actor throw, with its cause. */
  readonly bury: (shard: OwnedShard, address: Address, command: unknown, cause: string) => void;
}

/**
 * Where an actor stands: `loading` → `active` ⇄ `backoff` (crashed, waits) → `suspended` (waits for an operator);
 * `stopping` waits for its last commit; `stopped` is the end.
 */
type Status = 'loading' | 'active' | 'backoff' | 'suspended' | 'stopping' | 'stopped';

interface Waiter {
  readonly resolve: (state: unknown) => void;
  readonly reject: (failure: Error) => void;
}

const noWrites: readonly Write[] = [];

/**
 * One actor: a mailbox, a state, and one turn at a time. A turn's writes are committed first; only then its state
 * holds, its effects are performed and its reply is released. A throw changes nothing (see `#crash`).
 */
export class Actor implements Commitment {
  readonly address: Address;
  readonly text: string;
  readonly shard: OwnedShard;
  /** Writes of the turn under way, for the group commit. */
  writes: readonly Write[] = noWrites;

  readonly #behaviour: AnyBehaviour;
  readonly #around: ActorSurroundings;
  readonly #mailbox: Mailbox;
  readonly #timers: ActorTimers;
  readonly #restarts: RestartPolicy;
  #status: Status = 'loading';
  #state: unknown;
  /** What the turn under way was run for; `undefined` between turns. */
  #current: Envelope | undefined;
  #turn: Turn<unknown, unknown> | undefined;
  /** Whether the turn under way adds to or takes from the shard's `awake` set. */
  #awakeChange: boolean | undefined;
  #startedMs = 0;
  /** The turn under way stands in for one that threw: the actor is loaded again when it has taken effect. */
  #recovering = false;
  /** Committed while the lease did not hold: takes effect when the shard thaws. */
  #held = false;
  #pumping = false;
  /** Rises when the state is thrown away, so that an answer to an older question is known to be late. */
  #generation = 0;
  #cause: 'activation' | 'crash' = 'activation';
  /** Runs while the actor waits: for Redis, or before it is started again. */
  #pause: ArmedTimer | undefined;
  #waitsForStore = false;
  /** The first turn after the activation has taken effect. */
  #isReady = false;
  #lastError: { readonly atMs: number; readonly message: string } | undefined;
  #lastTurnMs: number;
  #waiters: Waiter[] = [];
  #onStopped: (() => void) | undefined;

  constructor(address: Address, shard: OwnedShard, behaviour: AnyBehaviour, around: ActorSurroundings) {
    this.address = address;
    this.text = addressText(address);
    this.shard = shard;
    this.#behaviour = behaviour;
    this.#around = around;
    this.#mailbox = new Mailbox(around.limits);
    this.#timers = new ActorTimers(around.clock, (id) => this.#timerDue(id));
    this.#restarts = new RestartPolicy(around.limits);
    this.#lastTurnMs = around.clock.monotonicMs();
    if (shard.suspended.has(this.text)) this.#status = 'suspended';
    else this.#load();
  }

  /** The last committed state; `undefined` while there is none in memory. */
  get state(): unknown {
    return this.#state;
  }

  get isSuspended(): boolean {
    return this.#status === 'suspended';
  }

  /** Nothing runs and nothing waits. */
  get isIdle(): boolean {
    return this.#status === 'active' && this.#current === undefined && this.#mailbox.depth === 0;
  }

  /** Whether a hand-over need not wait for it. */
  get isSettled(): boolean {
    if (this.#status !== 'active') return this.#status !== 'stopping';
    return this.isIdle && (this.#behaviour.settled?.(this.#state) ?? true);
  }

  /** Idle for long enough, and nothing needs it to live. */
  mayPassivate(nowMs: number): boolean {
    return (
      this.isIdle &&
      nowMs - this.#lastTurnMs >= this.#around.limits.passivateAfterMs &&
      !this.#behaviour.mustLive(this.#state)
    );
  }

  get mustLive(): boolean {
    return this.#state !== undefined && this.#behaviour.mustLive(this.#state);
  }

  /** Takes a command in, or tells who waits for it why not. */
  offer(
    command: unknown,
    waiter?: { readonly resolve: (reply: unknown) => void; readonly reject: (failure: Error) => void },
  ): void {
    const lane = this.#behaviour.lane(command);
    const failure = lane === 'client' ? this.#refusal() : undefined;
    const envelope: Envelope = {
      kind: 'command',
      command,
      lane,
      bytes: lane === 'client' ? this.#behaviour.size(command) : 0,
      queuedAtMs: this.#around.clock.monotonicMs(),
      ...waiter,
    };
    this.#offer(envelope, failure);
  }

  #offer(envelope: Envelope, failure: RuntimeFailure | undefined): void {
    if (this.#status === 'suspended' || this.#status === 'stopped') {
      envelope.reject?.(failure ?? suspended());
      return;
    }
    const refusal = failure ?? this.#mailbox.offer(envelope);
    if (refusal === undefined) {
      this.#pump();
      return;
    }
    if (refusal.code === 'MAILBOX_FULL') this.#around.counters.mailboxRefusals += 1;
    if (envelope.reject === undefined) {
      this.#around.log.warn(
        { actor: this.text, code: refusal.code },
        'A command that nobody waits for was refused',
      );
    } else {
      envelope.reject(refusal);
    }
  }

  /** Why no client command can be taken now. */
  #refusal(): RuntimeFailure | undefined {
    if (this.#status === 'suspended') return suspended();
    if (this.shard.draining || this.#status === 'stopped') return movedAway();
    if (this.shard.inDoubt || this.#waitsForStore) return unavailable('Redis does not answer');
    return undefined;
  }

  /** The state, once there is one. `undefined`: no such actor. */
  whenActive(): Promise<unknown> {
    if (this.#isReady) return Promise.resolve(this.#state);
    if (this.#status === 'suspended') return Promise.reject(suspended());
    if (this.#status === 'stopped') return Promise.reject(movedAway());
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  // ── turns ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Runs turns until there is nothing to do or something to wait for. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#status === 'active' && this.#current === undefined && this.#pause === undefined) {
      if (!this.#around.mayAct(this.shard)) {
        this.#mailbox.refuseClients(unavailable('The lease of this node has ended'));
        break;
      }
      const envelope = this.#mailbox.take(this.#around.clock.monotonicMs(), this.#onExpired);
      if (envelope === undefined) break;
      this.#begin(envelope);
    }
    this.#pumping = false;
    if (this.shard.draining) this.shard.onSettling?.();
  }

  readonly #onExpired = (): void => {
    this.#around.counters.mailboxRefusals += 1;
  };

  #begin(envelope: Envelope): void {
    const { clock, store } = this.#around;
    const nowMs = this.shard.nowMs(clock);
    if (envelope.kind === 'timer' && !this.#timers.isDue((envelope.command as RuntimeCommand).id, nowMs))
      return;
    this.#current = envelope;
    this.#startedMs = clock.monotonicMs();
    if (envelope.kind !== 'command' && envelope.kind !== 'timer') {
      this.#decide(envelope, undefined);
      return;
    }
    let facts: unknown;
    try {
      facts = this.#behaviour.prepare(this.#state, envelope.command, { address: this.address, store, nowMs });
    } catch (error) {
      this.#prepareFailed(envelope, error);
      return;
    }
    if (!(facts instanceof Promise)) {
      this.#decide(envelope, facts);
      return;
    }
    const generation = this.#generation;
    facts.then(
      (known) => {
        if (generation === this.#generation) this.#decide(envelope, known);
      },
      (error) => {
        if (generation === this.#generation) this.#prepareFailed(envelope, error);
      },
    );
  }

  #decide(envelope: Envelope, facts: unknown): void {
    let turn: Turn<unknown, unknown>;
    try {
      turn = this.#run(envelope, facts);
      checkWrites(this.shard.number, turn.writes ?? noWrites);
    } catch (error) {
      this.#crash(envelope, error, facts);
      return;
    }
    this.#submit(turn);
  }

  #run(envelope: Envelope, facts: unknown): Turn<unknown, unknown> {
    const behaviour = this.#behaviour;
    const { address } = this;
    const nowMs = this.shard.nowMs(this.#around.clock);
    switch (envelope.kind) {
      case 'command':
      case 'timer':
        return behaviour.turn(this.#state, envelope.command, { address, nowMs, facts });
      case 'activated':
        return behaviour.activated(this.#state, { address, nowMs, cause: this.#cause });
      case 'draining':
        return behaviour.draining?.(this.#state, { address, nowMs }) ?? {};
      case 'sync':
        return {};
    }
  }

  /** Commits what the turn decided; with nothing to write it takes effect at once. */
  #submit(turn: Turn<unknown, unknown>): void {
    this.#turn = turn;
    this.writes = turn.writes ?? noWrites;
    this.#awakeChange = undefined;
    if (turn.state !== undefined || this.#current?.kind !== 'command') {
      const live = this.#behaviour.mustLive(turn.state ?? this.#state);
      if (live !== this.shard.awake.has(this.text)) {
        this.#awakeChange = live;
        this.writes = [
          ...this.writes,
          [live ? 'SADD' : 'SREM', shardKey(this.shard.number, 'awake'), this.text],
        ];
      }
    }
    if (this.writes.length === 0) this.#takeEffect();
    else this.#around.commits.add(this.shard, this);
  }

  /** The group commit tells what became of the turn's writes. */
  settled(outcome: CommitmentOutcome, message?: string): void {
    if (this.#turn === undefined || this.#current === undefined) return;
    switch (outcome) {
      case 'committed':
        this.#takeEffect();
        break;
      case 'unknown':
        // The asker need not wait until it is known; the actor must.
        this.#current.reject?.(
          new RuntimeFailure('OUTCOME_UNKNOWN', 'The commit was sent and not answered', 1),
        );
        return;
      case 'unavailable':
        this.#uncommitted(message);
        break;
      case 'failed':
        this.#crash(this.#current, new Error(`Redis refused a write of the turn: ${message}`), undefined);
        break;
      case 'fenced':
        this.#finish()?.reject?.(movedAway());
        return;
    }
    this.#pump();
  }

  /** The commit holds: state, then effects, then the reply. */
  #takeEffect(): void {
    const turn = this.#turn as Turn<unknown, unknown>;
    const envelope = this.#current as Envelope;
    if (!this.#around.mayAct(this.shard)) {
      // Somebody may be taking the shard over; what was committed waits until that is known.
      this.#held = true;
      envelope.reject?.(new RuntimeFailure('OUTCOME_UNKNOWN', 'The lease ended during the commit', 1));
      return;
    }
    this.#held = false;
    const crash = this.#applyState(turn);
    for (const effect of turn.effects ?? []) this.#perform(effect);
    const { counters, clock, observer } = this.#around;
    counters.turns += 1;
    this.#lastTurnMs = clock.monotonicMs();
    observer?.turned?.(this.#behaviour.kind, this.#lastTurnMs - this.#startedMs);
    this.#finish();
    envelope.resolve?.(turn.reply);
    if (envelope.kind === 'activated') this.#answerWaiters();
    if (this.#status === 'stopping') this.#onStopped?.();
    else if (crash !== undefined || this.#recovering) this.#restart();
  }

  /** Makes the turn's state the actor's. Answers what went wrong in `committed`, which must not throw. */
  #applyState(turn: Turn<unknown, unknown>): unknown {
    const { awake } = this.shard;
    if (this.#awakeChange === true) awake.add(this.text);
    if (this.#awakeChange === false) awake.delete(this.text);
    if (turn.state !== undefined) this.#state = turn.state;
    try {
      turn.committed?.();
      if (turn.state !== undefined || turn.committed !== undefined || this.#current?.kind === 'activated') {
        this.#timers.update(this.#behaviour.timers(this.#state));
        // What `committed` changed in place may decide it as well.
        if (turn.committed && this.#behaviour.mustLive(this.#state) !== awake.has(this.text))
          this.#tellSelf('sync');
      }
      return undefined;
    } catch (error) {
      this.#noteCrash(error);
      return error;
    }
  }

  #perform(effect: unknown): void {
    try {
      this.#behaviour.perform(effect, this.address);
    } catch (error) {
      this.#around.counters.effectFailures += 1;
      this.#around.log.error({ actor: this.text, err: error }, 'An effect threw although it must not');
    }
  }

  /** Ends the turn under way, whatever came of it. */
  #finish(): Envelope | undefined {
    const envelope = this.#current;
    this.#current = undefined;
    this.#turn = undefined;
    this.writes = noWrites;
    return envelope;
  }

  /** Nothing of the turn was applied, because Redis could not: a client is told, a control command waits. */
  #uncommitted(message = 'Redis cannot be reached'): void {
    const envelope = this.#finish() as Envelope;
    this.#recovering = false;
    if (this.#status === 'stopping') {
      envelope.reject?.(movedAway());
      this.#onStopped?.();
      return;
    }
    if (envelope.lane === 'client') {
      envelope.reject?.(unavailable(message));
      return;
    }
    this.#mailbox.putBack(envelope);
    this.#waitForStore(message, () => this.#pump());
  }

  #prepareFailed(envelope: Envelope, error: unknown): void {
    if (!(error instanceof RuntimeFailure)) {
      this.#crash(envelope, error, undefined);
    } else if (envelope.lane === 'client') {
      this.#finish()?.reject?.(error);
    } else {
      this.#uncommitted(error.message);
    }
    this.#pump();
  }

  // ── what the runtime tells the actor by itself ─────────────────────────────────────────────────────────────

  #tellSelf(kind: Exclude<EnvelopeKind, 'command'>, command?: unknown): void {
    this.#mailbox.offer({
      kind,
      command,
      lane: 'control',
      bytes: 0,
      queuedAtMs: this.#around.clock.monotonicMs(),
    });
  }

  #timerDue(id: string): void {
    this.#tellSelf('timer', { type: 'timer', id } satisfies RuntimeCommand);
    this.#pump();
  }

  /** The hand-over of the shard begins: clients go elsewhere, what is in hand is settled. */
  drain(): void {
    this.#mailbox.refuseClients(movedAway());
    this.#tellSelf('draining');
    this.#pump();
  }

  /** The lease has ended: nobody waits for what may not happen here any more. */
  freeze(): void {
    this.#mailbox.refuseClients(unavailable('The lease of this node has ended'));
  }

  /** The shard is known to be ours again. */
  thaw(): void {
    if (this.#held) this.#takeEffect();
    this.#pump();
  }

  #waitForStore(message: string, then: () => void): void {
    this.#waitsForStore = true;
    this.#mailbox.refuseClients(unavailable(message));
    this.#pause = this.#around.clock.after(this.#around.limits.retryMs, () => {
      this.#pause = undefined;
      this.#waitsForStore = false;
      then();
    });
  }

  // ── life ───────────────────────────────────────────────────────────────────────────────────────────────────

  #load(): void {
    this.#status = 'loading';
    this.#generation += 1;
    const generation = this.#generation;
    const { clock, store } = this.#around;
    const loading = async () => this.#behaviour.load(this.address, store, this.shard.nowMs(clock));
    loading().then(
      (state) => {
        if (generation === this.#generation) this.#loaded(state);
      },
      (error) => {
        if (generation === this.#generation) this.#loadFailed(error);
      },
    );
  }

  #loaded(state: unknown): void {
    if (state === undefined) {
      this.#mailbox.answerNobody();
      this.#answerWaiters();
      this.#stopped();
      this.#leaveAwake();
      return;
    }
    this.#around.counters.activations += 1;
    this.#state = state;
    this.#status = 'active';
    this.#timers.update(this.#behaviour.timers(state));
    this.#mailbox.putBack({
      kind: 'activated',
      command: undefined,
      lane: 'control',
      bytes: 0,
      queuedAtMs: this.#around.clock.monotonicMs(),
    });
    this.#pump();
  }

  #loadFailed(error: unknown): void {
    if (!(error instanceof RuntimeFailure)) {
      this.#noteCrash(error);
      this.#restart();
      return;
    }
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#mailbox.refuseClients(unavailable(error.message));
    if (!this.#mailbox.holdsControl && !this.shard.awake.has(this.text)) this.#stopped();
    else this.#waitForStore(error.message, () => this.#load());
  }

  #answerWaiters(): void {
    this.#isReady = this.#state !== undefined;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(this.#state);
  }

  /**
   * A turn threw, or Redis refused one of its writes. A client's command is dead-lettered; for any other the
   * behaviour may say what to do in its place. Then the state is thrown away and loaded from the last commit.
   */
  #crash(envelope: Envelope, error: unknown, facts: unknown): void {
    this.#noteCrash(error);
    if (envelope.lane === 'client') {
      this.#finish();
      this.#around.bury(this.shard, this.address, envelope.command, messageOf(error));
      envelope.reject?.(new RuntimeFailure('POISONED', 'The command made the actor throw'));
    } else if (!this.#recovering && (envelope.kind === 'command' || envelope.kind === 'timer')) {
      const turn = this.#recoveryOf(envelope, facts);
      if (turn !== undefined) {
        this.#recovering = true;
        this.#submit(turn);
        return;
      }
    }
    const waiting = this.#finish();
    if (envelope.lane === 'control')
      waiting?.reject?.(new RuntimeFailure('POISONED', 'The command made the actor throw'));
    this.#restart();
  }

  #recoveryOf(envelope: Envelope, facts: unknown): Turn<unknown, unknown> | undefined {
    try {
      const nowMs = this.shard.nowMs(this.#around.clock);
      const context = { address: this.address, nowMs, facts };
      const turn = this.#behaviour.recover?.(this.#state, envelope.command, context);
      if (turn !== undefined) checkWrites(this.shard.number, turn.writes ?? noWrites);
      return turn;
    } catch (error) {
      this.#noteCrash(error);
      return undefined;
    }
  }

  #noteCrash(error: unknown): void {
    this.#around.counters.crashes += 1;
    this.#lastError = { atMs: this.#around.clock.wallMs(), message: messageOf(error) };
    this.#around.log.error({ actor: this.text, err: error }, 'An actor crashed');
  }

  /** Throws the state away and loads it again after a wait, or suspends the actor when it crashed too often. */
  #restart(): void {
    if (this.#status === 'stopped') return;
    if (this.#status === 'stopping') {
      this.#onStopped?.();
      return;
    }
    const verdict = this.#restarts.crashed(this.#around.clock.monotonicMs());
    this.#unload(verdict === 'suspend' ? 'suspended' : 'crashed');
    if (verdict === 'suspend') {
      this.#suspend();
      return;
    }
    this.#around.counters.restarts += 1;
    this.#status = 'backoff';
    this.#cause = 'crash';
    if (verdict.restartInMs > this.#around.limits.mailboxAgeMs) {
      this.#mailbox.refuseClients(new RuntimeFailure('MAILBOX_FULL', 'The actor waits to be restarted', 1));
    }
    this.#pause = this.#around.clock.after(verdict.restartInMs, () => {
      this.#pause = undefined;
      this.#load();
    });
  }

  #suspend(): void {
    this.#status = 'suspended';
    this.#around.counters.suspensions += 1;
    this.#around.log.error({ actor: this.text }, 'An actor crashed too often and waits for an operator');
    this.#mailbox.clear(suspended());
    for (const waiter of this.#waiters.splice(0)) waiter.reject(suspended());
    this.shard.suspended.add(this.text);
    this.#writeAlone([['SADD', shardKey(this.shard.number, 'suspended'), this.text]]);
  }

  /** Starts a suspended actor again, and forgets that it crashed. */
  resume(): void {
    this.#restarts.forget();
    if (this.#status === 'backoff') {
      this.#pause?.cancel();
      this.#pause = undefined;
      this.#load();
    }
    if (this.#status !== 'suspended') return;
    this.shard.suspended.delete(this.text);
    this.#writeAlone([['SREM', shardKey(this.shard.number, 'suspended'), this.text]]);
    this.#load();
  }

  /** Throws the state away and loads it again, once the turn under way has ended. */
  async restart(): Promise<void> {
    if (this.#status !== 'active') return;
    await this.#quiesce();
    this.#unload('crashed');
    this.#cause = 'crash';
    this.#load();
  }

  /** Stops the actor once the turn under way has ended. */
  async stop(reason: DeactivationReason): Promise<void> {
    if (this.#status === 'stopped') return;
    await this.#quiesce();
    this.dispose(reason);
  }

  /** Waits for the end of the turn under way and begins no other. */
  #quiesce(): Promise<void> {
    if (this.#current === undefined) return Promise.resolve();
    this.#status = 'stopping';
    return new Promise((resolve) => {
      this.#onStopped = () => {
        this.#onStopped = undefined;
        resolve();
      };
    });
  }

  /** Stops at once: whoever waits is told that the actor is elsewhere, or that the outcome is not known. */
  dispose(reason: DeactivationReason): void {
    if (this.#status === 'stopped') return;
    const committing = this.#turn !== undefined;
    const envelope = this.#finish();
    envelope?.reject?.(
      committing
        ? new RuntimeFailure('OUTCOME_UNKNOWN', 'The shard was lost during the commit', 1)
        : movedAway(),
    );
    this.#unload(reason);
    this.#mailbox.clear(movedAway());
    for (const waiter of this.#waiters.splice(0)) waiter.reject(movedAway());
    this.#stopped();
    this.#onStopped?.();
  }

  /** Takes the actor out of those that must live; for one that is gone for good. */
  leaveAwake(): void {
    this.#leaveAwake();
  }

  #leaveAwake(): void {
    if (!this.shard.awake.delete(this.text)) return;
    this.#writeAlone([['SREM', shardKey(this.shard.number, 'awake'), this.text]]);
  }

  /** Forgets the state and all that hangs on it. */
  #unload(reason: DeactivationReason): void {
    this.#generation += 1;
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#waitsForStore = false;
    this.#recovering = false;
    this.#held = false;
    this.#isReady = false;
    this.#timers.cancel();
    const state = this.#state;
    this.#state = undefined;
    if (state === undefined) return;
    try {
      this.#behaviour.deactivated(state, this.address, reason);
    } catch (error) {
      this.#around.log.error({ actor: this.text, err: error }, 'An actor threw while it was stopped');
    }
  }

  #stopped(): void {
    this.#status = 'stopped';
    if (this.shard.actors.get(this.text) === this) this.shard.actors.delete(this.text);
  }

  #writeAlone(writes: readonly Write[]): void {
    this.#around.commits.add(this.shard, {
      writes,
      settled: (outcome) => {
        if (outcome !== 'committed')
          this.#around.log.warn({ actor: this.text, outcome }, 'A mark was not written');
      },
    });
  }

  /** What an operator sees. */
  snapshot(owner: { readonly nodeId: string; readonly epoch: number }): ActorSnapshot {
    const status = this.#status;
    return {
      address: this.address,
      owner,
      status: status === 'backoff' || status === 'suspended' ? status : 'active',
      mailbox: {
        depth: this.#mailbox.depth,
        bytes: this.#mailbox.bytes,
        oldestQueuedMs: this.#mailbox.oldestQueuedMs(this.#around.clock.monotonicMs()),
      },
      timers: this.#timers.list,
      restarts: this.#restarts.recentCrashes,
      lastError: this.#lastError,
      state: this.#state === undefined ? {} : this.#behaviour.describe(this.#state),
    };
  }
}

function suspended(): RuntimeFailure {
  return new RuntimeFailure('SUSPENDED', 'The actor crashed too often and waits for an operator');
}

function movedAway(): RuntimeFailure {
  return new RuntimeFailure('SHARD_NOT_OWNED', 'The shard is not owned by this node', 1);
}

function unavailable(message: string): RuntimeFailure {
  return new RuntimeFailure('STORE_UNAVAILABLE', message, 1);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
