import { fullLedger } from '../../../policy/full-ledger.ts';
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { SendLedger } from '../../../policy/send-ledger.ts';
import { entryTextOf, messageIdOf } from './accepted-list.ts';

/** A shop's ledger as it was stored, or what stands in place of it. */
export interface StoredLedger {
  readonly ledger: SendLedger;
  /** What to store in place of these elements, oldest first, each in its place; absent: they stand as they are. */
  readonly elements?: readonly string[];
  /** It could not be read, and counts as full from now on. */
  readonly unreadable?: true;
}

/**
 * Reads a shop's ledger back from the newest elements of what it accepted. What was stored by a clock that was ahead
 * counts as sent at `nowMs`: later than it was, so no window lets through one too many, and none waits for a time that
 * is hours away. A ledger that cannot be read counts as full: the shop sends nothing for a day at most, rather than
 * more than its caps. Ids stay as they are, and in their places.
 */
export function readLedger(newest: readonly string[], nowMs: number): StoredLedger {
  const stored = newest.map(entryTextOf);
  let entries: (LedgerEntry | undefined)[];
  try {
    entries = stored.map((entry) => (entry === '' ? undefined : decodeEntry(entry)));
  } catch {
    const full = fullLedger(nowMs).map(encodeEntry);
    const elements = newest.map((element) => messageIdOf(element) ?? full[0] ?? '');
    return { ledger: SendLedger.restore(full), elements: [...elements, ...full], unreadable: true };
  }
  if (entries.every((entry) => entry === undefined || entry.atMs <= nowMs))
    return { ledger: restored(stored) };
  const believed = entries.map((entry) =>
    entry === undefined ? '' : encodeEntry({ ...entry, atMs: Math.min(entry.atMs, nowMs) }),
  );
  const elements = newest.map((element, index) => (messageIdOf(element) ?? '') + believed[index]);
  return { ledger: restored(believed), elements };
}

function restored(entries: readonly string[]): SendLedger {
  return SendLedger.restore(entries.filter((entry) => entry !== ''));
}
