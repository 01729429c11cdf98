import { DAY_MS } from '../runtime/durations.ts';
import { recipientKey } from './number-forms.ts';
import { type DeclarationFact, isDeclarationActive } from './recipient-class.ts';
import { type DeclarationPolicyCode, type PolicyRefusal, refuse, refuseUntil } from './refusal.ts';

/** Most contacts in one declaration (docs/contract.md, Declarations). */
export const DECLARATION_BATCH_LIMIT = 100;

/**
 * Most new declarations of a tenant in 24 hours (docs/contract.md, Declarations). Each is one entry, so this is also
 * how many entries can count at a time: `LTRIM key -DECLARATIONS_PER_DAY -1`.
 */
export const DECLARATIONS_PER_DAY = 500;

/** One accepted batch: the number of its new contacts, and its time. */
export interface DeclarationEntry {
  readonly atMs: number;
  readonly count: number;
}

/** A contact of a batch, and the stored declaration of its number in any form. */
export interface DeclarationItem {
  readonly phone: string;
  readonly current: DeclarationFact | null;
}

/**
 * An admitted batch. The caller commits `entry` with the contacts and records it afterwards; `null`: nothing
 * was new.
 */
export interface DeclarationAdmission {
  readonly isAdmitted: true;
  readonly entry: DeclarationEntry | null;
}

/**
 * A tenant's new declarations of the last 24 hours. Time never runs behind the newest entry, as in `SendLedger`. A
 * ledger restored from its encoded entries decides like the original.
 */
export class DeclarationLedger {
  #entries: DeclarationEntry[] = [];

  /**
   * Returns the ledger that recorded these entries, oldest first. Entries that a clock ahead recorded after `nowMs`
   * count as recorded at `nowMs`.
   */
  static restore(encodedEntries: readonly string[], nowMs: number): DeclarationLedger {
    const ledger = new DeclarationLedger();
    for (const entry of encodedEntries) {
      const { atMs, count } = decodeDeclarations(entry);
      ledger.record({ atMs: Math.min(atMs, nowMs), count });
    }
    return ledger;
  }

  /** The moment that counts as now: `nowMs`, but never before the newest entry. */
  effectiveNowMs(nowMs: number): number {
    return Math.max(nowMs, this.#entries.at(-1)?.atMs ?? nowMs);
  }

  /** Adds an accepted batch and removes entries that are too old to count. Call it only after the commit succeeded. */
  record(entry: DeclarationEntry): void {
    const atMs = this.effectiveNowMs(entry.atMs);
    this.#entries = [...this.liveAt(atMs), { atMs, count: entry.count }];
  }

  /** The entries that count at a moment, oldest first. */
  liveAt(timeMs: number): readonly DeclarationEntry[] {
    return this.#entries.filter((entry) => entry.atMs > timeMs - DAY_MS);
  }
}

/**
 * Decides on a batch of declarations, all or nothing. A number without an active declaration is new: never declared,
 * revoked or expired. Renewing an active one is free. A number that comes twice in a batch, in any form, counts once.
 * Changes nothing: record the admission's entry after its commit.
 */
export function evaluateDeclarations(
  ledger: DeclarationLedger,
  facts: { readonly items: readonly DeclarationItem[]; readonly nowMs: number },
): DeclarationAdmission | PolicyRefusal<DeclarationPolicyCode> {
  const { items, nowMs } = facts;
  if (items.length > DECLARATION_BATCH_LIMIT) {
    const message = `A batch has at most ${DECLARATION_BATCH_LIMIT} contacts.`;
    return refuse('DECLARE_BATCH_TOO_LARGE', message);
  }
  const atMs = ledger.effectiveNowMs(nowMs);
  const newCount = countNew(items, atMs);
  if (newCount > 0 && countOf(ledger.liveAt(atMs)) + newCount > DECLARATIONS_PER_DAY) {
    return refuseUntil({
      code: 'DECLARE_DAILY_CAP_REACHED',
      message: `A tenant declares at most ${DECLARATIONS_PER_DAY} new contacts in 24 hours.`,
      reliefMs: reliefMs({ ledger, items, nowMs, atMs }),
      nowMs,
    });
  }
  return { isAdmitted: true, entry: newCount === 0 ? null : { atMs, count: newCount } };
}

/** Returns the entry as ASCII text: time and count in base 36. */
export function encodeDeclarations(entry: DeclarationEntry): string {
  return `${entry.atMs.toString(36)}.${entry.count.toString(36)}`;
}

/** Returns the entry that was encoded. Throws on anything that `encodeDeclarations` did not write. */
export function decodeDeclarations(encodedText: string): DeclarationEntry {
  const [atMs = 0, count = 0] = encodedText.split('.').map((part) => Number.parseInt(part, 36));
  const entry = { atMs, count };
  if (encodeDeclarations(entry) !== encodedText)
    throw new Error('a stored declaration entry is not readable');
  return entry;
}

function countNew(items: readonly DeclarationItem[], timeMs: number): number {
  const people = items
    .filter(({ current }) => !isDeclarationActive(current, timeMs))
    .map(({ phone }) => recipientKey(phone));
  return new Set(people).size;
}

function countOf(entries: readonly DeclarationEntry[]): number {
  return entries.reduce((total, { count }) => total + count, 0);
}

/**
 * Returns the first whole second from now at which the batch fits. Space only grows when an entry gets too old. But
 * meanwhile declarations of the batch may expire and become new. So the batch is checked at the next whole second after
 * each entry gets too old, when the caller will retry. It fits at last, since a batch alone always fits.
 */
function reliefMs(facts: {
  readonly ledger: DeclarationLedger;
  readonly items: readonly DeclarationItem[];
  readonly nowMs: number;
  readonly atMs: number;
}): number {
  const { ledger, items, nowMs, atMs } = facts;
  const seconds = ledger.liveAt(atMs).map((entry) => Math.ceil((entry.atMs + DAY_MS - nowMs) / 1_000));
  const fittingMs = seconds
    .map((second) => nowMs + 1_000 * second)
    .find((timeMs) => countOf(ledger.liveAt(timeMs)) + countNew(items, timeMs) <= DECLARATIONS_PER_DAY);
  return fittingMs ?? Number.POSITIVE_INFINITY;
}
