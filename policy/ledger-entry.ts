import type { Fingerprint } from './text-fingerprint.ts';

/**
 * What an accepted send counts as: the class of a 1:1 recipient, or a group or status, which have their own
 * budgets.
 */
export type EntryKind = 'known' | 'cold' | 'declared' | 'group' | 'status';

/** One accepted send: everything that a rule may ask of it. */
export interface LedgerEntry {
  readonly kind: EntryKind;
  /** When it was accepted; never behind the entry before it. */
  readonly atMs: number;
  /** The recipient's number (1:1), the shares it takes (group), 0 (status). */
  readonly subject: number;
  /** Of the text or attachment (1:1), of the group's identifier (group), zeros (status). */
  readonly fingerprint: Fingerprint;
}

const letterOf: Readonly<Record<EntryKind, string>> = {
  known: 'k',
  cold: 'c',
  declared: 'd',
  group: 'g',
  status: 's',
};
const kindOf = new Map(Object.entries(letterOf).map(([kind, letter]) => [letter, kind as EntryKind]));

/** The entry as about 35 ASCII characters: its kind's letter, then time, subject and fingerprint in base 36. */
export function encodeEntry(entry: LedgerEntry): string {
  const { high, low } = entry.fingerprint;
  return `${letterOf[entry.kind]}${base36(entry.atMs)}.${base36(entry.subject)}.${base36(high)}.${base36(low)}`;
}

const PAIRS = 36 * 36;
const pairs = Array.from({ length: PAIRS }, (_, value) => value.toString(36).padStart(2, '0'));

/**
 * `toString(36)` of a whole number that is not negative, two digits at a time: every send writes four, in a
 * fifth of the time.
 */
function base36(value: number): string {
  let rest = value;
  let digits = '';
  while (rest >= PAIRS) {
    const next = Math.floor(rest / PAIRS);
    digits = (pairs[rest - next * PAIRS] as string) + digits;
    rest = next;
  }
  return rest.toString(36) + digits;
}

/** The entry that was encoded. Throws on anything that `encodeEntry` did not write. */
export function decodeEntry(encoded: string): LedgerEntry {
  const kind = kindOf.get(encoded.charAt(0));
  const [atMs = 0, subject = 0, high = 0, low = 0] = encoded
    .slice(1)
    .split('.')
    .map((part) => Number.parseInt(part, 36));
  if (kind !== undefined) {
    const entry: LedgerEntry = { kind, atMs, subject, fingerprint: { high, low } };
    if (encodeEntry(entry) === encoded) {
      return entry;
    }
  }
  throw new Error('a stored ledger entry is not readable');
}
