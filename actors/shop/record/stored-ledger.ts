import { fullLedger } from '../../../policy/full-ledger.ts';
import { decodeEntry, encodeEntry } from '../../../policy/ledger-entry.ts';
import { SendLedger } from '../../../policy/send-ledger.ts';

/** A shop's ledger as it was stored, or what stands in place of it. */
export interface StoredLedger {
  readonly ledger: SendLedger;
  /** What to store in its place, oldest first; absent: it stands as it was stored. */
  readonly entries?: readonly string[];
  /** It could not be read, and counts as full from now on. */
  readonly unreadable?: true;
}

/**
 * Reads a shop's ledger back. What was stored by a clock that was ahead counts as sent at `nowMs`: later than it was,
 * so no window lets through one too many, and none waits for a time that is hours away. A ledger that cannot be read
 * counts as full: the shop sends nothing for a day at most, rather than more than its caps.
 */
export function readLedger(stored: readonly string[], nowMs: number): StoredLedger {
  let entries: ReturnType<typeof decodeEntry>[];
  try {
    entries = stored.map(decodeEntry);
  } catch {
    const full = fullLedger(nowMs).map(encodeEntry);
    return { ledger: SendLedger.restore(full), entries: full, unreadable: true };
  }
  if (entries.every(({ atMs }) => atMs <= nowMs)) return { ledger: SendLedger.restore(stored) };
  const believed = entries.map((entry) => encodeEntry({ ...entry, atMs: Math.min(entry.atMs, nowMs) }));
  return { ledger: SendLedger.restore(believed), entries: believed };
}
