import type { LedgerEntry } from '../../../policy/ledger-entry.ts';

/** A send that this pool shop offered to another shop. Its message has not arrived. Never stored. */
export interface OfferedSend {
  /** The entry with which it would count if it were accepted. */
  readonly entry: LedgerEntry;
  /** True if its recipient never wrote to the pool shop. */
  readonly startsChat: boolean;
  readonly offeredAtMs: number;
}
