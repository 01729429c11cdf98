import { DAY_MS, HOUR_MS } from '../runtime/durations.ts';
import { type KindSet, kindSet, type SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';
import { messageCaps, warmupDay } from './warm-up.ts';

/** The use of one window of a shop. */
export interface WindowUsage {
  readonly window: 'perDay' | 'perHour' | 'coldPerDay' | 'declaredPerDay' | 'groupsPerDay' | 'statusesPerDay';
  /** Sends that count now, shares for groups. May exceed a cap that was lowered since. */
  readonly used: number;
  readonly cap: number;
  /** When the oldest that counts stops counting; `null` when nothing counts. */
  readonly nextReliefMs: number | null;
}

/** A shop's warm-up and its use of each window. */
export interface PolicyUsage {
  readonly warmupDay: number;
  readonly windows: { readonly [Name in WindowUsage['window']]: WindowUsage };
}

/** Returns a shop's warm-up and its use of each window. Changes nothing. */
export function policyUsage(
  ledger: SendLedger,
  facts: {
    readonly settings: TenantSettings;
    readonly pairedAtMs: number | null;
    readonly nowMs: number;
  },
): PolicyUsage {
  const { settings, pairedAtMs } = facts;
  const nowMs = ledger.effectiveNowMs(facts.nowMs);
  const caps = messageCaps({ settings, pairedAtMs, nowMs });
  const messages = kindSet('known', 'cold', 'declared');
  const usage = (
    window: WindowUsage['window'],
    windowOptions: { readonly kinds: KindSet; readonly windowMs: number; readonly cap: number },
  ): WindowUsage => {
    const { kinds, windowMs, cap } = windowOptions;
    const { weight, oldestMs } = ledger.usageSince({ kinds, sinceMs: nowMs - windowMs });
    const nextReliefMs = oldestMs === undefined ? null : oldestMs + windowMs;
    return { window, used: weight, cap, nextReliefMs };
  };
  const day = (kinds: KindSet, cap: number) => ({ kinds, windowMs: DAY_MS, cap });
  return {
    warmupDay: warmupDay({ pairedAtMs, nowMs }),
    windows: {
      perDay: usage('perDay', day(messages, caps.perDay)),
      perHour: usage('perHour', { kinds: messages, windowMs: HOUR_MS, cap: caps.perHour }),
      coldPerDay: usage('coldPerDay', day(kindSet('cold'), caps.coldPerDay)),
      declaredPerDay: usage('declaredPerDay', day(kindSet('declared'), caps.declaredPerDay)),
      groupsPerDay: usage('groupsPerDay', day(kindSet('group'), settings.groupsPerDay)),
      statusesPerDay: usage('statusesPerDay', day(kindSet('status'), settings.statusesPerDay)),
    },
  };
}
