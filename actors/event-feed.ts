import type { Clock } from '../runtime/clock.ts';

/** Something operators may want to see at once. Never a text, a key or a QR code. */
export interface ActorEvent {
  /** `channel`, `pacing`, `message`, `tenant` or `shop`. */
  readonly type: string;
  /** ISO 8601. */
  readonly at: string;
  readonly data: Record<string, unknown>;
}

/** Tells listeners on this node what happens to its actors. */
export class EventFeed {
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: ActorEvent) => void>();
  /** The moment of the last event, also as text: every send is an event, and many share a moment. */
  #atMs = Number.NaN;
  #at = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  publish(type: string, data: Record<string, unknown>): void {
    if (this.#listeners.size === 0) return;
    const atMs = this.#clock.wallMs();
    if (atMs !== this.#atMs) {
      this.#atMs = atMs;
      this.#at = new Date(atMs).toISOString();
    }
    const event = { type, at: this.#at, data };
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls `listener` from now on; the answer ends it. */
  subscribe(listener: (event: ActorEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
