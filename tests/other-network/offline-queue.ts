import type { Stanza } from './library.ts';
import { SERVER } from './stanzas.ts';

/** Stanzas that are sent before the client requests any (vinikjkkj/zapo, WaOfflineResumeCoordinator.ts). */
const BEFORE_ASKED = 5;

/**
 * The stanzas that waited while the client was away: announced, then sent in as many batches as the client asks for.
 */
export class OfflineQueue {
  readonly #waiting: Stanza[] = [];
  /** Batches that the client asked for. */
  batches = 0;
  #sent = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(stanza: Stanza): void {
    this.#waiting.push(stanza);
  }

  /** The stanzas of a login: the announcement and the first of the queue. */
  opening(): Stanza[] {
    return [ib('offline_preview', this.#waiting.length), ...this.#next(BEFORE_ASKED)];
  }

  /** Returns the stanzas for a client that requests `count` more. */
  batch(count: number): Stanza[] {
    this.batches += 1;
    return this.#next(count);
  }

  #next(count: number): Stanza[] {
    const sent = this.#waiting.splice(0, count).map(({ attrs, ...rest }) => ({
      ...rest,
      attrs: { ...attrs, offline: String(this.#sent++) },
    }));
    return this.isEmpty ? [...sent, ib('offline', this.#sent)] : sent;
  }
}

function ib(tag: string, count: number): Stanza {
  return { tag: 'ib', attrs: { from: SERVER }, content: [{ tag, attrs: { count: String(count) } }] };
}
