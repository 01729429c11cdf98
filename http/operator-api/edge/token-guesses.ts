import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';

/** Most different wrong tokens that an address may send within a window. Mistyped tokens stay far below. */
export const MOST_GUESSES = 20;
/** Length of a window; it begins with the first wrong token of an address. */
export const GUESS_WINDOW_MS = MINUTE_MS;
/** Most addresses that are remembered. The one whose window began first is forgotten for another. */
const MOST_ADDRESSES = 10_000;

interface Window {
  readonly endsMs: number;
  /** Digests of the wrong tokens, at most `MOST_GUESSES`. */
  readonly seenDigests: Set<string>;
}

/**
 * Limits the number of wrong tokens from one address. A repeated wrong token counts once, so a scraper with an old
 * token does not lock out the operators behind its address. After the limit, every request of the address that needs
 * a token is refused until its window ends. Correct tokens are refused too, so an attacker cannot tell them apart. An
 * IPv6 address counts as its network of 64 bits, because a caller owns all of it.
 */
export class TokenGuesses {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the whole seconds until the address may try once more. Undefined if it may try now. */
  waitSeconds(ip: string): number | undefined {
    const window = this.#current(networkOf(ip));
    if (window === undefined || window.seenDigests.size < MOST_GUESSES) return undefined;
    return Math.max(1, Math.ceil((window.endsMs - this.#clock.monotonicMs()) / 1_000));
  }

  /**
   * Counts a wrong token. Returns `first` for the token that begins a window, and `last` for the one that reaches the
   * limit.
   */
  count(ip: string, token: string): 'first' | 'last' | undefined {
    const network = networkOf(ip);
    const digest = createHash('sha256').update(token).digest('base64');
    const window = this.#current(network);
    if (window === undefined) {
      this.#begin(network, digest);
      return 'first';
    }
    if (window.seenDigests.has(digest)) return undefined;
    window.seenDigests.add(digest);
    return window.seenDigests.size === MOST_GUESSES ? 'last' : undefined;
  }

  #current(network: string): Window | undefined {
    const window = this.#windows.get(network);
    if (window !== undefined && window.endsMs > this.#clock.monotonicMs()) return window;
    this.#windows.delete(network);
    return undefined;
  }

  #begin(network: string, digest: string): void {
    const [oldestAddress] = this.#windows.keys();
    if (this.#windows.size >= MOST_ADDRESSES && oldestAddress !== undefined)
      this.#windows.delete(oldestAddress);
    this.#windows.set(network, {
      endsMs: this.#clock.monotonicMs() + GUESS_WINDOW_MS,
      seenDigests: new Set([digest]),
    });
  }
}

function networkOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4'
    ? address.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString();
}
