import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { SessionNote } from '../../session-note.ts';

/** Stanzas asked for at once, as many as the client asks for. They are in memory together. */
const BATCH = 100;
/** So long nothing may come before more is asked for again, at first and at most. */
const FIRST_QUIET_MS = 1_000;
const LONGEST_QUIET_MS = 60_000;
/** So many questions in a row may bring nothing, for some ten minutes, before no more is asked. */
const MOST_IN_VAIN = 15;

/** The callbacks of a session that its backlog uses. */
export interface OfflineBacklogOptions {
  readonly ask: (count: number) => void;
  /** Resolves when what came so far is worked off. */
  readonly idle: () => Promise<void>;
  /** Acts after a while, unless the session has ended. */
  readonly later: (delayMs: number, act: () => void) => ArmedTimer;
  readonly note: (note: SessionNote) => void;
}

/**
 * Asks for the stanzas that waited while the session was away. The network announces them, sends a few, and then as
 * many as it is asked for (oxidezap/whatsapp-rust, src/client/offline_resume.rs).
 *
 * It is asked until it reports the end: for the next batch once the last one was processed, and again if nothing came.
 * After ten minutes without a stanza the questions stop, until another waiting stanza comes.
 */
export class OfflineBacklog {
  readonly #options: OfflineBacklogOptions;
  /** Undefined: nothing was announced, or all of it came. */
  #announced: number | undefined;
  #drained = 0;
  #left = 0;
  #asking = false;
  #quietMs = FIRST_QUIET_MS;
  #inVain = 0;
  #quiet: ArmedTimer | undefined;

  constructor(options: OfflineBacklogOptions) {
    this.#options = options;
  }

  /** So many stanzas wait. */
  announced(count: number): void {
    this.#announced = count;
    this.#drained = 0;
    this.#inVain = 0;
    this.#options.note({ type: 'offline_announced', count });
    this.#askForBatch();
  }

  /** A stanza that waited came. */
  arrived(): void {
    if (this.#announced === undefined) return;
    this.#drained += 1;
    this.#left -= 1;
    this.#quietMs = FIRST_QUIET_MS;
    this.#inVain = 0;
    this.#watchQuiet();
    if (this.#left > 0 || this.#asking) return;
    this.#asking = true;
    void this.#options.idle().then(() => this.#askForBatch());
  }

  /** The network reported the end of the waiting stanzas. */
  ended(): void {
    this.#quiet?.cancel();
    if (this.#announced === undefined) return;
    this.#options.note({ type: 'offline_drained', announced: this.#announced, drained: this.#drained });
    this.#announced = undefined;
  }

  #askForBatch(): void {
    this.#asking = false;
    if (this.#announced === undefined) return;
    this.#left = BATCH;
    this.#options.ask(BATCH);
    this.#watchQuiet();
  }

  /** Nothing came of the last question. */
  #askInVain(): void {
    this.#inVain += 1;
    if (this.#inVain < MOST_IN_VAIN) this.#askForBatch();
    else if (this.#announced !== undefined)
      this.#options.note({
        type: 'offline_unfinished',
        announced: this.#announced,
        drained: this.#drained,
      });
  }

  #watchQuiet(): void {
    this.#quiet?.cancel();
    this.#quiet = this.#options.later(this.#quietMs, () => {
      this.#quietMs = Math.min(LONGEST_QUIET_MS, 2 * this.#quietMs);
      if (this.#asking) this.#watchQuiet();
      else this.#askInVain();
    });
  }
}
