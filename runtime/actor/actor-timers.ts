import type { DueTimer } from '../behaviour.ts';
import type { ArmedTimer, Clock } from '../clock.ts';

/** The actor whose moments they are. */
export interface TimedActor {
  /** Called when the moment with this id has come. */
  timerDue(id: string): void;
}

const NO_MOMENTS: readonly DueTimer[] = [];

/**
 * The moments one actor waits for, derived from its state. Nothing is stored: a restart derives them again, and moments
 * that became due meanwhile are delivered at once. An unchanged moment is delivered once.
 */
export class ActorTimers {
  readonly #clock: Clock;
  readonly #actor: TimedActor;
  #due: readonly DueTimer[] = NO_MOMENTS;
  /** Moments that were delivered and are still in the state. */
  #delivered: readonly DueTimer[] = NO_MOMENTS;
  #armed: ArmedTimer | undefined;
  /**
   * The wall-clock time for which the timer is armed. It is never after the earliest moment to come. It may be before
   * that moment if the moments have changed since.
   */
  #armedForMs = 0;
  /** The moments with a `leastMs`, and the monotonic time at which the actor began to wait for each. */
  #lasting: readonly { readonly timer: DueTimer; readonly sinceMs: number }[] = [];

  constructor(clock: Clock, actor: TimedActor) {
    this.#clock = clock;
    this.#actor = actor;
  }

  get list(): readonly DueTimer[] {
    return this.#due;
  }

  /** Adopts the moments of the new state. */
  update(dueTimers: readonly DueTimer[]): void {
    if (dueTimers.length === 0 && this.#due.length === 0) return;
    this.#due = dueTimers;
    if (this.#lasting.length > 0 || dueTimers.some(({ leastMs }) => leastMs !== undefined))
      this.#updateLasting();
    if (this.#delivered.length > 0) this.#delivered = bothDue(this.#delivered, dueTimers);
    this.#arm();
  }

  /**
   * Called before the turn of a delivered moment. True if the state still waits for it, and it has come. The wall clock
   * may have stepped back since the delivery. The moment is then delivered again once it has come.
   */
  confirm(id: string, nowMs: number): boolean {
    const isDue = this.#due.some((timer) => timer.id === id && timer.dueAtMs <= nowMs);
    if (!isDue) {
      this.#delivered = this.#delivered.filter((timer) => timer.id !== id);
      this.#arm();
    }
    return isDue;
  }

  /** Disarms; nothing is delivered any more. */
  cancel(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#due = NO_MOMENTS;
    this.#delivered = NO_MOMENTS;
    this.#lasting = [];
  }

  #updateLasting(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#lasting = this.#due
      .filter(({ leastMs }) => leastMs !== undefined)
      .map((timer) => ({ timer, sinceMs: this.#sinceMs(timer) ?? nowMs }));
  }

  #sinceMs({ id, dueAtMs }: DueTimer): number | undefined {
    return this.#lasting.find(({ timer }) => timer.id === id && timer.dueAtMs === dueAtMs)?.sinceMs;
  }

  /** Returns the wall-clock time at which the moment has come by both clocks, if neither steps. */
  #comesAtMs(timer: DueTimer): number {
    const { dueAtMs, leastMs } = timer;
    const sinceMs = leastMs === undefined ? undefined : this.#sinceMs(timer);
    if (leastMs === undefined || sinceMs === undefined) return dueAtMs;
    return Math.max(dueAtMs, this.#clock.wallMs() + sinceMs + leastMs - this.#clock.monotonicMs());
  }

  #arm(): void {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#due) {
      if (!isIn(this.#delivered, timer)) earliestMs = Math.min(earliestMs, this.#comesAtMs(timer));
    }
    const waits = earliestMs !== Number.POSITIVE_INFINITY;
    // A timer that fires too early arms the next one. The deadlines of a message's steps replace each other within a
    // second.
    if (waits && this.#armed !== undefined && this.#armedForMs <= earliestMs) return;
    this.#armed?.cancel();
    this.#armed = undefined;
    if (!waits) return;
    this.#armedForMs = earliestMs;
    // After a step of the wall clock the timer fires early, and is armed again.
    this.#armed = this.#clock.after(Math.max(0, earliestMs - this.#clock.wallMs()), () => {
      this.#armed = undefined;
      this.#fire();
    });
  }

  #fire(): void {
    const nowMs = this.#clock.wallMs();
    for (const timer of this.#due) {
      if (this.#comesAtMs(timer) > nowMs || isIn(this.#delivered, timer)) continue;
      this.#delivered = [...this.#delivered, timer];
      this.#actor.timerDue(timer.id);
    }
    this.#arm();
  }
}

function isIn(timers: readonly DueTimer[], { id, dueAtMs }: DueTimer): boolean {
  for (const timer of timers) if (timer.id === id && timer.dueAtMs === dueAtMs) return true;
  return false;
}

/** Returns the timers of the first list that are in the second too. */
function bothDue(timers: readonly DueTimer[], otherTimers: readonly DueTimer[]): readonly DueTimer[] {
  return timers.filter((timer) => isIn(otherTimers, timer));
}
