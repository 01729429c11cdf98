import type { LedgerEntry } from './ledger-entry.ts';
import type { RecipientClass } from './recipient-class.ts';
import type { MessagePolicyCode, PolicyRefusal } from './refusal.ts';
import type { MessageCaps } from './warm-up.ts';

/**
 * The verdict that lets a send through, as the API shows it (docs/contract.md, Policy verdict object). `usage` includes
 * this send. For a group `caps.perDay` and `perHour` are its budget, and `usage.today` and `lastHour` the shares used
 * of it. A group has no separate hourly cap. The cold and declared figures are always the shop's.
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

/** An admitted message. The caller commits `entry` with it and records it once that commit has succeeded. */
export interface SendAdmission {
  readonly isAdmitted: true;
  readonly verdict: PolicyVerdict;
  readonly entry: LedgerEntry;
}

/** The result of an evaluation: an admission, or the first refusal. */
export type Evaluation = SendAdmission | PolicyRefusal<MessagePolicyCode>;
