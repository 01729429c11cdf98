import type { LedgerEntry } from '../../../policy/ledger-entry.ts';

/** A send that a shop of the pool offered to make for another shop, whose message has not arrived. Never stored. */
export interface OfferedSend {
  /** The entry with which it would count if it were accepted. */
  readonly entry: LedgerEntry;
  /** True if its recipient never wrote to the pool shop. */
  readonly startsChat: boolean;
  readonly offeredAtMs: number;
}
