import { DAY_MS } from '../runtime/durations.ts';
import { refuseEmpty } from './content-rules.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { type PolicyRefusal, refuseUntil, type StatusPolicyCode } from './refusal.ts';
import { kindSet, type SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';

/** The facts for the decision on a status, in addition to the ledger of the shop's posts. */
export interface StatusFacts {
  readonly caption: string | undefined;
  readonly hasAttachment: boolean;
  readonly settings: TenantSettings;
  readonly nowMs: number;
}

/** An admitted status. The caller commits `entry` with it and records it once that commit has succeeded. */
export interface StatusAdmission {
  readonly isAdmitted: true;
  readonly entry: LedgerEntry;
}

const STATUS_KINDS = kindSet('status');

/**
 * Decides on a status within its bounds (docs/contract.md, Input bounds): content, then the shop's own daily cap of
 * statuses. Uses up nothing else. Changes nothing: record the admission's entry after its commit.
 */
export function evaluateStatus(
  ledger: SendLedger,
  facts: StatusFacts,
): StatusAdmission | PolicyRefusal<StatusPolicyCode> {
  const { caption, hasAttachment, nowMs } = facts;
  const { statusesPerDay } = facts.settings;
  const contentRefusal = refuseEmpty(caption, hasAttachment);
  if (contentRefusal !== undefined) return contentRefusal;
  const atMs = ledger.effectiveNowMs(nowMs);
  const postedToday = ledger.weightSince({ kinds: STATUS_KINDS, sinceMs: atMs - DAY_MS });
  if (postedToday >= statusesPerDay) {
    return refuseUntil({
      code: 'STATUSES_DAILY_CAP_REACHED',
      message: `The shop has posted its ${statusesPerDay} statuses of the last 24 hours.`,
      reliefMs: ledger.roomAtMs({ kinds: STATUS_KINDS, windowMs: DAY_MS, room: statusesPerDay - 1 }),
      nowMs,
    });
  }
  return { isAdmitted: true, entry: { kind: 'status', atMs, subject: 0, fingerprint: { high: 0, low: 0 } } };
}
