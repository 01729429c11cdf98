import type { DueTimer } from '../behaviour.ts';
import type { ArmedTimer, Clock } from '../clock.ts';

/** Longest wait before the wall clock is read again, in milliseconds, since it may step. */
const longestWaitMs = 60_000;

/**
 * The moments one actor waits for, as its state tells them. Nothing is stored: after a restart the state tells them
 * again, and what fell due meanwhile is delivered at once. Each moment is delivered once while it stays as it is.
 */
export class ActorTimers {
  readonly #clock: Clock;
  readonly #onDue: (id: string) => void;
  #due: readonly DueTimer[] = [];
  /** Moments that were delivered and that the state still tells. */
  readonly #delivered = new Map<string, number>();
  #armed: ArmedTimer | undefined;
  #armedForMs = 0;

  constructor(clock: Clock, onDue: (id: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get list(): readonly DueTimer[] {
    return this.#due;
  }

  /** Takes over what the state now tells. */
  update(due: readonly DueTimer[]): void {
    if (due.length === 0 && this.#due.length === 0) return;
    this.#due = due;
    if (this.#delivered.size > 0) this.#forgetDelivered();
    this.#arm();
  }

  #forgetDelivered(): void {
    for (const [id, dueAtMs] of this.#delivered) {
      if (!this.#due.some((timer) => timer.id === id && timer.dueAtMs === dueAtMs))
        this.#delivered.delete(id);
    }
  }

  /** Whether the state still waits for this moment, and it has come. */
  isDue(id: string, nowMs: number): boolean {
    return this.#due.some((timer) => timer.id === id && timer.dueAtMs <= nowMs);
  }

  /** Disarms; nothing is delivered any more. */
  cancel(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#due = [];
    this.#delivered.clear();
  }

  #arm(): void {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#due) {
      if (this.#delivered.get(timer.id) !== timer.dueAtMs) earliestMs = Math.min(earliestMs, timer.dueAtMs);
    }
    if (this.#armed !== undefined && this.#armedForMs === earliestMs) return;
    this.#armed?.cancel();
    this.#armed = undefined;
    if (earliestMs === Number.POSITIVE_INFINITY) return;
    this.#armedForMs = earliestMs;
    const waitMs = Math.min(Math.max(0, earliestMs - this.#clock.wallMs()), longestWaitMs);
    this.#armed = this.#clock.after(waitMs, () => {
      this.#armed = undefined;
      this.#fire();
    });
  }

  #fire(): void {
    const nowMs = this.#clock.wallMs();
    for (const timer of this.#due) {
      if (timer.dueAtMs > nowMs || this.#delivered.get(timer.id) === timer.dueAtMs) continue;
      this.#delivered.set(timer.id, timer.dueAtMs);
      this.#onDue(timer.id);
    }
    this.#arm();
  }
}
