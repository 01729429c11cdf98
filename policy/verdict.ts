import type { LedgerEntry } from './ledger-entry.ts';
import type { PersonClass } from './recipient-class.ts';
import type { PolicyRefusal } from './refusal.ts';
import type { MessageCaps } from './warm-up.ts';

/** The classes of recipients of messages (docs/contract.md, Recipient classes). */
export type RecipientClass = PersonClass | 'group';

/**
 * The verdict that lets a send through, as the API shows it (docs/contract.md, Policy verdict object). `usage`
 * includes this send. For a group `caps.perDay` and `perHour` are its budget and `usage.today` and `lastHour`
 * the shares used of it (there is no hourly cap of its own), while the cold and declared figures stay the
 * shop's.
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
export function verdictJson({ recipientClass, warmupDay, caps, usage }: PolicyVerdict): string {
  const { today, lastHour, coldToday, declaredToday } = usage;
  return (
    `{"recipientClass":"${recipientClass}","warmupDay":${warmupDay},"caps":${capsJson(caps)},` +
    `"usage":{"today":${today},"lastHour":${lastHour},"coldToday":${coldToday},"declaredToday":${declaredToday}}}`
  );
}

/** The caps asked for last, and their JSON: most shops have the same. */
let lastCaps: MessageCaps = { perDay: 0, perHour: 0, coldPerDay: 0, declaredPerDay: 0 };
let lastCapsJson = JSON.stringify(lastCaps);

function capsJson(caps: MessageCaps): string {
  const { perDay, perHour, coldPerDay, declaredPerDay } = caps;
  const isLast =
    perDay === lastCaps.perDay &&
    perHour === lastCaps.perHour &&
    coldPerDay === lastCaps.coldPerDay &&
    declaredPerDay === lastCaps.declaredPerDay;
  if (!isLast) {
    lastCaps = caps;
    lastCapsJson = JSON.stringify({ perDay, perHour, coldPerDay, declaredPerDay });
  }
  return lastCapsJson;
}

/** An admitted message. The caller commits `entry` with it and records it once that commit holds. */
export interface SendAdmission {
  readonly admitted: true;
  readonly verdict: PolicyVerdict;
  readonly entry: LedgerEntry;
}

/** The result of an evaluation: an admission, or the first refusal. */
export type Evaluation = SendAdmission | PolicyRefusal;
