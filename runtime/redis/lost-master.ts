import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { isMasterless } from './redis-failure.ts';

/**
 * How long a server must refuse as no master before it is left, and the wait between two new connections;
 * milliseconds.
 */
const CONNECT_ANEW_EVERY_MS = 1_000;

/** Two signs of a server's role. They come over different connections, and one of these may have moved first. */
type Witness = 'writes' | 'role';

/**
 * Detects that the server at the other end of the connections is no longer the master. A failover behind one address
 * may leave every connection open: the old master refuses each write and closes nothing. A client that waits for a
 * broken connection would never leave it. While such refusals last, the connections are opened again each second. The
 * address leads to the new master as soon as it has moved.
 */
export class LostMaster {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #reconnect: () => void;
  /**
   * The witnesses that the server is no master, and since when each has said so. A confirmation removes its witness.
   */
  readonly #deniedSinceMs = new Map<Witness, number>();
  #connectedAtMs = Number.NEGATIVE_INFINITY;

  /** `reconnect` ends every connection and opens it again. Commands without a reply then get `OUTCOME_UNKNOWN`. */
  constructor(options: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly reconnect: () => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#reconnect = options.reconnect;
  }

  /**
   * Called when a write failed. A broken connection reconnects by itself and proves nothing about the server's role.
   */
  writeFailed(error: unknown): void {
    if (isMasterless(error)) this.noteDenied('writes');
  }

  /** Called when the server at the other end is not a master. */
  noteDenied(witness: Witness): void {
    const nowMs = this.#clock.monotonicMs();
    const isFirst = this.#deniedSinceMs.size === 0;
    const sinceMs = this.#deniedSinceMs.get(witness) ?? nowMs;
    this.#deniedSinceMs.set(witness, sinceMs);
    if (isFirst) this.#log.warn({}, 'Redis is not a master; its address is resolved again until it is');
    if (nowMs - Math.max(sinceMs, this.#connectedAtMs) < CONNECT_ANEW_EVERY_MS) return;
    this.#connectedAtMs = nowMs;
    this.#reconnect();
  }

  /** Called when the server at the other end is a master. */
  noteConfirmed(witness: Witness): void {
    this.#deniedSinceMs.delete(witness);
  }
}
