/**
 * The sends that a pool shop has offered to make. Their messages have not arrived, so nothing is stored or counted yet.
 * Each counts against the next offers, so that shops which ask at the same moment are not promised more than the number
 * may send. If the process is killed, only these counts are lost: a message that then finds no room is refused.
 */

import type { LedgerEntry } from '../../../../policy/ledger-entry.ts';
import { SECOND_MS } from '../../../../runtime/durations.ts';
import type { OfferedSend } from '../../state/offered-send.ts';
import type { ShopState } from '../../state/shop-state.ts';

/**
 * How long an offer counts. Its message arrives within milliseconds, or with the second request for it, which follows
 * after two seconds.
 */
export const OFFER_COUNTS_MS = 5 * SECOND_MS;

/**
 * Returns the offers that count against a send. An earlier offer of that send does not count: its shop asks once more if
 * the last answer was lost. Offers from a time after now were made before the clock was set back.
 */
export function otherOffers(
  { offeredSends }: Pick<ShopState, 'offeredSends'>,
  entry: LedgerEntry,
  nowMs: number,
): readonly OfferedSend[] {
  return offeredSends.filter(
    (offered) => Math.abs(nowMs - offered.offeredAtMs) < OFFER_COUNTS_MS && !isSameSend(offered.entry, entry),
  );
}

function isSameSend(one: LedgerEntry, other: LedgerEntry): boolean {
  return (
    one.subject === other.subject &&
    one.fingerprint.high === other.fingerprint.high &&
    one.fingerprint.low === other.fingerprint.low
  );
}
