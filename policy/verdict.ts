import type { LedgerEntry } from './ledger-entry.ts';
import type { PersonClass } from './recipient-class.ts';
import type { PolicyRefusal } from './refusal.ts';
import type { MessageCaps } from './warm-up.ts';

/** The classes of recipients of messages (docs/contract.md, Recipient classes). */
export type RecipientClass = PersonClass | 'group';

/**
 * The verdict that lets a send through, as the API shows it (docs/contract.md, Policy verdict object). `usage` includes
 * this send. For a group `caps.perDay` and `perHour` are its budget, and `usage.today` and `lastHour` the shares used
 * of it; a group has no separate hourly cap. The cold and declared figures are always the shop's.
 */
export interface PolicyVerdict {
  readonly recipientClass: RecipientClass;
  readonly warmupDay: number;
  readonly caps: MessageCaps;
  readonly usage: {
    readonly today: number;
    readonly lastHour: number;
    readonly coldToday: number;
    readonly declaredToday: number;
  };
}

/** The JSON of a verdict, byte for byte that of `JSON.stringify`, in half of its time: every send writes it twice. */
export function verdictJson(verdict: PolicyVerdict): string {
  const { today, lastHour } = verdict.usage;
  return `${verdictStart(verdict)}${today},"lastHour":${lastHour}${verdictEnd(verdict)}`;
}

/** The last verdict, and its JSON before and after the number of sent messages: most shops differ only in it. */
let last: PolicyVerdict | undefined;
let lastStart = '';
let lastUsage: PolicyVerdict['usage'] | undefined;
let lastEnd = '';

function verdictStart(verdict: PolicyVerdict): string {
  if (last === undefined || !startsAlike(verdict, last)) {
    const { recipientClass, warmupDay, caps } = verdict;
    const { perDay, perHour, coldPerDay, declaredPerDay } = caps;
    const known = { recipientClass, warmupDay, caps: { perDay, perHour, coldPerDay, declaredPerDay } };
    last = verdict;
    lastStart = JSON.stringify({ ...known, usage: { today: 0 } }).slice(0, -'0}}'.length);
  }
  return lastStart;
}

function verdictEnd({ usage }: PolicyVerdict): string {
  const { coldToday, declaredToday } = usage;
  if (coldToday !== lastUsage?.coldToday || declaredToday !== lastUsage.declaredToday) {
    lastUsage = usage;
    lastEnd = [',"coldToday":', coldToday, ',"declaredToday":', declaredToday, '}}'].join('');
  }
  return lastEnd;
}

function startsAlike(one: PolicyVerdict, other: PolicyVerdict): boolean {
  return (
    one.recipientClass === other.recipientClass &&
    one.warmupDay === other.warmupDay &&
    one.caps.perDay === other.caps.perDay &&
    one.caps.perHour === other.caps.perHour &&
    one.caps.coldPerDay === other.caps.coldPerDay &&
    one.caps.declaredPerDay === other.caps.declaredPerDay
  );
}

/** An admitted message. The caller commits `entry` with it and records it once that commit has succeeded. */
export interface SendAdmission {
  readonly admitted: true;
  readonly verdict: PolicyVerdict;
  readonly entry: LedgerEntry;
}

/** The result of an evaluation: an admission, or the first refusal. */
export type Evaluation = SendAdmission | PolicyRefusal;
