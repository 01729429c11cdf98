/**
 * The sends that a pool shop has offered to make. Their messages have not arrived, so nothing is stored or counted yet.
 * Each counts against the next offers. So shops that ask together are not promised more than the number may send. An
 * offer is no reservation: the shop's own sends do not look at it, and a restart forgets it. A message that then finds
 * no room is refused, and its shop looks for another one.
 */

import type { LedgerEntry } from '../../../../policy/ledger-entry.ts';
import type { OfferedSend } from '../../state/offered-send.ts';
import type { ShopState } from '../../state/shop-state.ts';

/**
 * How long an offer counts. Its message usually arrives within milliseconds. If the first request for it is lost, the
 * second follows after two seconds.
 */
export const OFFER_COUNTS_MS = 5_000;

/**
 * Returns the offers that count against a send. An earlier offer for the same send does not count, because its shop
 * repeats the question if the answer was lost. If the clock was set back, an offer may be from a later time. It does
 * not count if that is five seconds ahead or more.
 */
export function otherOffers(
  { offeredSends }: Pick<ShopState, 'offeredSends'>,
  entry: LedgerEntry,
  nowMs: number,
): readonly OfferedSend[] {
  return offeredSends.filter(
    (offeredSend) =>
      Math.abs(nowMs - offeredSend.offeredAtMs) < OFFER_COUNTS_MS && !isSameSend(offeredSend.entry, entry),
  );
}

function isSameSend(left: LedgerEntry, right: LedgerEntry): boolean {
  return (
    left.subject === right.subject &&
    left.fingerprint.high === right.fingerprint.high &&
    left.fingerprint.low === right.fingerprint.low
  );
}
