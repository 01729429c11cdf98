import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { isMasterless } from './redis-failure.ts';

/** So long a server must refuse as one that is no master, and so long is waited between two new connections. */
const CONNECT_ANEW_EVERY_MS = 1_000;

/**
 * Finds out that the server at the other end of the connections is not the master any more. A failover behind one
 * address may leave every connection open: the old master answers each write with a refusal and breaks nothing, so a
 * client that waits for a broken connection stays with it for good. While such refusals last, the connections are made
 * anew each second: the address leads to the new master as soon as it has moved.
 */
export class LostMaster {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #connectAnew: () => void;
  /** When the first refusal came of those that no success interrupted; `undefined`: the last write was taken. */
  #refusedSinceMs: number | undefined;
  #connectedAtMs = Number.NEGATIVE_INFINITY;
  #told = false;

  /** `connectAnew` ends every connection and makes it again; what was under way on it is `OUTCOME_UNKNOWN`. */
  constructor(options: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly connectAnew: () => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#connectAnew = options.connectAnew;
  }

  /** A write failed. A connection that broke is made anew by itself and says nothing about the server's role. */
  failed(error: unknown): void {
    if (isMasterless(error)) this.isNoMaster();
  }

  /** A server said that it is no master. */
  isNoMaster(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#refusedSinceMs ??= nowMs;
    const latestMs = Math.max(this.#refusedSinceMs, this.#connectedAtMs);
    if (nowMs - latestMs < CONNECT_ANEW_EVERY_MS) return;
    this.#connectedAtMs = nowMs;
    if (!this.#told) this.#log.warn({}, 'Redis takes no writes: its address is asked anew for the master');
    this.#told = true;
    this.#connectAnew();
  }

  /** A write was taken. */
  taken(): void {
    this.#refusedSinceMs = undefined;
    this.#told = false;
  }
}
