import type { OperatorEvent } from './operator-event.ts';

/** Most events that are kept for readers that return. */
const KEPT_EVENTS = 1_000;

export interface LoggedEvent {
  readonly id: string;
  readonly event: OperatorEvent;
}

/** The events after a position in a log. */
export interface EventBatch {
  /** Oldest first. */
  readonly events: readonly LoggedEvent[];
  /** Number of later events that are left out here. At least so many, if the id is of another log. */
  readonly missed: number;
}

/**
 * The last events, numbered. An id is `epoch-number-time`. The number serves readers that return to the same log. The
 * time (milliseconds, base 36) serves readers that come from another node's log, or from before a restart.
 */
export class EventLog {
  readonly #epoch: string;
  /** The last event is the newest, and its number is `#number`. */
  readonly #kept: OperatorEvent[] = [];
  /** The newest event that is no longer kept. */
  #lastDropped: OperatorEvent | undefined;
  #number = 0;

  /** `epoch` identifies this log: letters and digits. */
  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  /** Adds an event and returns its number. `logged` makes its id, which costs more and is seldom needed. */
  append(event: OperatorEvent): number {
    this.#number += 1;
    this.#kept.push(event);
    if (this.#kept.length > KEPT_EVENTS) this.#lastDropped = this.#kept.shift();
    return this.#number;
  }

  /** Returns the event with its position. */
  logged(number: number, event: OperatorEvent): LoggedEvent {
    return { id: `${this.#epoch}-${number}-${Date.parse(event.at).toString(36)}`, event };
  }

  /** Returns the position after all events so far, for a reader that wants none from before `nowMs`. */
  end(nowMs: number): string {
    return `${this.#epoch}-${this.#number}-${nowMs.toString(36)}`;
  }

  /** Returns the time in an id of any log, or undefined if it is not one. */
  static timeOf(id: string): number | undefined {
    const timeMs = Number.parseInt(id.split('-')[2] ?? '', 36);
    return Number.isNaN(timeMs) ? undefined : timeMs;
  }

  /** Returns the events after the event with that id, at most the newest `limit`. */
  after(id: string, limit = KEPT_EVENTS): EventBatch {
    const [epoch, number] = id.split('-');
    const isOurs = epoch === this.#epoch;
    const seenMs = EventLog.timeOf(id) ?? Number.POSITIVE_INFINITY;
    const numberBefore = this.#number - this.#kept.length;
    const numberedEvents = this.#kept.map((event, index) => ({ number: numberBefore + 1 + index, event }));
    const newEvents = isOurs
      ? numberedEvents.filter((numbered) => numbered.number > Number(number))
      : numberedEvents.filter(({ event }) => Date.parse(event.at) > seenMs);
    const shownEvents = newEvents.slice(-limit);
    // The number of dropped events after a time is not known, only whether there is one.
    const leastDropped = Date.parse(this.#lastDropped?.at ?? '') > seenMs ? 1 : 0;
    const laterEvents = isOurs ? this.#number - Number(number) : newEvents.length + leastDropped;
    return {
      events: shownEvents.map((numbered) => this.logged(numbered.number, numbered.event)),
      missed: laterEvents - shownEvents.length,
    };
  }
}
