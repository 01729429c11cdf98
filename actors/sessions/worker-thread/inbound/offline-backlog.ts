import type { ArmedTimer } from '../../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SessionContext } from '../shared/session-context.ts';

/** The stanzas of one request, as many as the client requests. They are in memory together. */
const STANZAS_PER_REQUEST = 100;
/** Time without a stanza before the next request: the first wait and the longest, in milliseconds. */
const FIRST_QUIET_MS = 1_000;
const LONGEST_QUIET_MS = MINUTE_MS;
/** Unanswered requests in a row after which the requests stop (about ten minutes). */
const MOST_IN_VAIN = 15;

/** The callbacks of a session that its backlog uses. */
interface OfflineBacklogCallbacks {
  readonly ask: (count: number) => void;
  /** Resolves when all stanzas so far are processed. */
  readonly waitUntilIdle: () => Promise<void>;
}

/**
 * Requests the stanzas that waited while the session was offline. The network announces them, sends a few, and then the
 * requested number (oxidezap/whatsapp-rust, src/client/offline_resume.rs).
 *
 * Requests continue until the network reports the end. The next one follows once the stanzas of the last one were
 * processed, or if no stanza came. After ten minutes without a stanza the requests stop, until another waiting stanza
 * arrives.
 */
export class OfflineBacklog {
  readonly #context: SessionContext;
  readonly #callbacks: OfflineBacklogCallbacks;
  /** Undefined if nothing was announced, or all of it arrived. */
  #announced: number | undefined;
  #drained = 0;
  #left = 0;
  #isAsking = false;
  #quietMs = FIRST_QUIET_MS;
  #inVain = 0;
  #quiet: ArmedTimer | undefined;

  constructor(context: SessionContext, callbacks: OfflineBacklogCallbacks) {
    this.#context = context;
    this.#callbacks = callbacks;
  }

  /** Starts the requests for `count` waiting stanzas. */
  start(count: number): void {
    this.#announced = count;
    this.#drained = 0;
    this.#inVain = 0;
    this.#context.note({ kind: 'offline_announced', count });
    this.#askForMore();
  }

  /** Counts a waiting stanza that arrived. */
  countStanza(): void {
    if (this.#announced === undefined) return;
    this.#drained += 1;
    this.#left -= 1;
    this.#quietMs = FIRST_QUIET_MS;
    this.#inVain = 0;
    this.#watchQuiet();
    if (this.#left > 0 || this.#isAsking) return;
    this.#isAsking = true;
    void this.#callbacks.waitUntilIdle().then(() => this.#askForMore());
  }

  /** The network reported the end of the waiting stanzas. */
  finish(): void {
    this.#quiet?.cancel();
    if (this.#announced === undefined) return;
    this.#context.note({ kind: 'offline_drained', announced: this.#announced, drained: this.#drained });
    this.#announced = undefined;
  }

  #askForMore(): void {
    this.#isAsking = false;
    if (this.#announced === undefined) return;
    this.#left = STANZAS_PER_REQUEST;
    this.#callbacks.ask(STANZAS_PER_REQUEST);
    this.#watchQuiet();
  }

  /** The last request brought no stanza. */
  #askInVain(): void {
    this.#inVain += 1;
    if (this.#inVain < MOST_IN_VAIN) {
      this.#askForMore();
    } else if (this.#announced !== undefined) {
      this.#context.note({
        kind: 'offline_unfinished',
        announced: this.#announced,
        drained: this.#drained,
      });
    }
  }

  #watchQuiet(): void {
    this.#quiet?.cancel();
    this.#quiet = this.#context.later(this.#quietMs, () => {
      this.#quietMs = Math.min(LONGEST_QUIET_MS, 2 * this.#quietMs);
      if (this.#isAsking) this.#watchQuiet();
      else this.#askInVain();
    });
  }
}
