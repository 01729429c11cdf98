import type { InboundContent } from '../../../actors/inbound-content.ts';
import type { SendOutcome } from '../../../actors/sessions/session-events.ts';
import type { SendOrder, SessionAddress } from '../../../actors/sessions/session-host.ts';

/** A message from a person to a shop. */
export interface WrittenMessage {
  readonly from: string;
  readonly text: string;
  readonly wireId?: string;
  /** Reported where the session is to report it. */
  readonly content?: InboundContent;
}

/** How the network in memory behaves. */
export interface MemoryBehaviour {
  /** Shops have credentials from the start: `open` leads to `connected`, unless a code to type is asked for. */
  readonly paired: boolean;
  /** How long ago shops were paired that have credentials from the start. */
  readonly pairedAgoMs: number;
  /** The number a shop connects with, digits only. */
  readonly phone: (shop: SessionAddress) => string;
  readonly connectMs: number;
  readonly checkMs: number;
  readonly composeMs: number;
  readonly sendMs: number;
  /** Life of each QR code, and how many there are. */
  readonly qrMs: number;
  readonly qrCount: number;
  /** Returns the code with which the network refuses a pairing code, or undefined if it gives one. */
  readonly codeRefusal: (phone: string) => number | undefined;
  readonly exists: (to: string) => boolean | 'silent' | 'rate_limited';
  /** True if a request for the groups is answered. */
  readonly tellsGroups: boolean;
  /** The number the network knows an existing recipient by. */
  readonly knownAs: (to: string) => string;
  /** Returns the outcome of a send; `silent`: there is none until the deadline. */
  readonly outcome: (order: SendOrder) => SendOutcome | 'silent';
  /** How long an inbound message waits for its confirmation before the session is dropped. */
  readonly confirmMs: number;
  /** The host of a proxy that makes no connection. If undefined, each one does. */
  readonly deadEgress: string | undefined;
  /** The number of its last orders that each shop remembers for tests. */
  readonly remembered: number;
}

/** The default behaviour. */
export const DEFAULT_MEMORY_BEHAVIOUR: MemoryBehaviour = {
  paired: false,
  pairedAgoMs: 0,
  phone: phoneOf,
  connectMs: 1,
  checkMs: 1,
  composeMs: 1,
  sendMs: 1,
  qrMs: 20_000,
  qrCount: 6,
  codeRefusal: () => undefined,
  exists: () => true,
  tellsGroups: true,
  knownAs: (to) => to,
  outcome: () => ({ kind: 'acknowledged' }),
  confirmMs: 10_000,
  deadEgress: undefined,
  remembered: 1_000,
};

/**
 * Returns the shop's number, digits only. It has the low 16 bits of the second of its ObjectId, and the counter, which
 * restarts each second. No two shops made within 18 hours share it.
 */
function phoneOf({ shopId }: SessionAddress): string {
  return `1${Number.parseInt(shopId.slice(4, 8) + shopId.slice(-6), 16)}`;
}
