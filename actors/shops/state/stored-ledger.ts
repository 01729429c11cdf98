import { fullLedger } from '../../../policy/full-ledger.ts';
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { recipientKey } from '../../../policy/number-forms.ts';
import { SendLedger } from '../../../policy/send-ledger.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { aliasField } from '../records/alias-field.ts';
import { entryTextOf, messageIdOf } from './accepted-list.ts';

/** A shop's ledger as it was stored, or a full one if it could not be read. */
export interface StoredLedger {
  readonly ledger: SendLedger;
  /** The elements that replace these, oldest first, each at its position. If absent, these stay. */
  readonly elements?: readonly string[];
  /** True if the stored one could not be read, so that a full one counts from now on. */
  readonly isUnreadable: boolean;
}

/**
 * Reads a shop's ledger from the newest elements of its accepted list. An entry with a time after `nowMs`, from a clock
 * that was ahead, counts as sent at `nowMs`. No window then admits one send too many, or waits for hours. An unreadable
 * ledger counts as full: the shop sends nothing for a day at most, rather than more than its caps. Ids and their
 * positions stay unchanged.
 */
export function readLedger(newestElements: readonly string[], nowMs: number): StoredLedger {
  const entryTexts = newestElements.map(entryTextOf);
  let entries: (LedgerEntry | undefined)[];
  try {
    entries = entryTexts.map((entry) => (entry === '' ? undefined : decodeEntry(entry)));
  } catch {
    const fullEntries = fullLedger(nowMs).map(encodeEntry);
    const elements = newestElements.map((element) => messageIdOf(element) ?? fullEntries[0] ?? '');
    return {
      ledger: SendLedger.restore(fullEntries),
      elements: [...elements, ...fullEntries],
      isUnreadable: true,
    };
  }
  const countedEntries = entries.filter((entry) => entry !== undefined);
  if (countedEntries.every((entry) => entry.atMs <= nowMs))
    return { ledger: ledgerOf(countedEntries), isUnreadable: false };
  const correctedEntries = entries.map((entry) => entry && { ...entry, atMs: Math.min(entry.atMs, nowMs) });
  const elements = newestElements.map((element, index) => {
    const entry = correctedEntries[index];
    return (messageIdOf(element) ?? '') + (entry === undefined ? '' : encodeEntry(entry));
  });
  const presentEntries = correctedEntries.filter((entry) => entry !== undefined);
  return { ledger: ledgerOf(presentEntries), elements, isUnreadable: false };
}

/**
 * Returns the entries of the newest elements that are less than a day old at `nowMs`, for another shop to count. If
 * they are unreadable, returns a full ledger.
 */
export function countedEntries(newestElements: readonly string[], nowMs: number): LedgerEntry[] {
  try {
    return newestElements
      .map(entryTextOf)
      .filter((text) => text !== '')
      .map(decodeEntry)
      .map((entry) => ({ ...entry, atMs: Math.min(entry.atMs, nowMs) }))
      .filter(({ atMs }) => atMs > nowMs - DAY_MS);
  } catch {
    return fullLedger(nowMs);
  }
}

/**
 * Returns the ledger of these entries. In a list, entries taken over with a number may come after later ones of the
 * shop.
 */
export function ledgerOf(entries: readonly LedgerEntry[]): SendLedger {
  const ledger = new SendLedger();
  for (const entry of entries.toSorted((left, right) => left.atMs - right.atMs)) ledger.record(entry);
  return ledger;
}

/**
 * Counts recipients under the numbers that the network knows them by. `numberOf` looks a number up by the recipient's
 * field of the aliases (`aliasField`).
 */
export function mergeKnownNumbers(ledger: SendLedger, numberOf: (field: string) => string | undefined): void {
  for (const recipient of ledger.recipients()) {
    const number = numberOf(aliasField(recipient));
    if (number !== undefined) ledger.mergeRecipient(recipient, recipientKey(number));
  }
}
