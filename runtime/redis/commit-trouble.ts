import type { Clock } from '../clock.ts';
import { MINUTE_MS } from '../durations.ts';
import type { Logger } from '../logger.ts';

/** How long the outcome of a part's last commit counts, in milliseconds. */
const RECENT_MS = MINUTE_MS;

/**
 * Logs that Redis refuses commits, once when it begins and once when it ends. A cluster has parts, one per shard, and
 * may refuse some while it accepts others. The trouble ends when the last commit of each recent part was accepted.
 */
export class CommitTrouble {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Parts whose last commit was refused, and when. */
  readonly #refusedAtMs = new Map<number, number>();
  /** The troubles that were logged since it began. */
  readonly #reported = new Set<string>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Called when a commit to this part was refused. */
  noteRefused(part: number, trouble: string): void {
    this.#note(part, trouble, 'commits are refused, nothing of them was applied');
  }

  /** Called when a commit to this part was applied, and a replica that must have it did not confirm it. */
  noteUnconfirmed(part: number, trouble: string): void {
    this.#note(part, trouble, 'commits wait, and calls are answered 503');
  }

  #note(part: number, trouble: string, explanation: string): void {
    this.#forgetOld();
    if (this.#refusedAtMs.size === 0) this.#reported.clear();
    this.#refusedAtMs.set(part, this.#clock.monotonicMs());
    if (this.#reported.has(trouble)) return;
    this.#reported.add(trouble);
    this.#log.error({ trouble }, `${trouble}: ${explanation}`);
  }

  /** Called when a commit to this part was accepted. */
  noteAccepted(part: number): void {
    if (this.#refusedAtMs.size === 0) return;
    this.#refusedAtMs.delete(part);
    this.#forgetOld();
    if (this.#refusedAtMs.size === 0) this.#log.info({}, 'Redis accepts commits again');
  }

  #forgetOld(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [part, atMs] of this.#refusedAtMs) {
      if (nowMs - atMs > RECENT_MS) this.#refusedAtMs.delete(part);
    }
  }
}
