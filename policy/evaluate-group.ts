import { DAY_MS, HOUR_MS } from '../runtime/durations.ts';
import { refuseContent } from './content-rules.ts';
import { type MessagePolicyCode, type PolicyRefusal, refuse, refuseUntil } from './refusal.ts';
import { kindSet, type SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';
import { type Fingerprint, groupFingerprint } from './text-fingerprint.ts';
import type { Evaluation } from './verdict.ts';
import { messageCaps, warmupDay } from './warm-up.ts';

/** Participants that one share of `groupsPerDay` pays for (docs/contract.md, Groups). */
export const GROUP_SIZE_UNIT = 50;

/** The live session's knowledge of a group (docs/contract.md, Groups). */
export interface GroupContext {
  readonly participantCount: number;
  /** The shop's number administers the group. */
  readonly isAdmin: boolean;
  /** True if only administrators may write in the group. No rule of the policy uses it. */
  readonly announce: boolean;
}

/** The facts for the decision on a message to a group, in addition to the ledger of the shop's sends. */
export interface GroupFacts {
  readonly groupId: string;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  /** `null` if the session knows no such group. */
  readonly group: GroupContext | null;
  readonly pairedAtMs: number | null;
  readonly settings: TenantSettings;
  readonly nowMs: number;
}

const GROUP_KINDS = kindSet('group');

/**
 * Returns the shares that a group of this size takes: one for every `GROUP_SIZE_UNIT` participants, rounded up, at
 * least one.
 */
export function groupShares(participantCount: number): number {
  return Math.max(1, Math.ceil(participantCount / GROUP_SIZE_UNIT));
}

/**
 * Decides on a message to a group: content, context, administration, limit per group, daily shares. The first rule that
 * refuses gives the answer. Groups have a separate budget and use up nothing else. Changes nothing: record the
 * admission's entry after its commit.
 */
export function evaluateGroup(ledger: SendLedger, facts: GroupFacts): Evaluation {
  const { text, mediaUrl, group, settings } = facts;
  const contentRefusal = refuseContent(text, mediaUrl);
  if (contentRefusal !== undefined) return contentRefusal;
  // Without the number of participants, or with an impossible one, the cost of the send is unknown.
  if (group === null || !Number.isInteger(group.participantCount) || group.participantCount < 0) {
    return refuse(
      'GROUP_CONTEXT_REQUIRED',
      "The shop's number is not in this group, or the group does not exist.",
    );
  }
  if (!group.isAdmin)
    return refuse('GROUP_NOT_ADMINISTERED', "The shop's number does not administer the group.");
  const atMs = ledger.effectiveNowMs(facts.nowMs);
  const fingerprint = groupFingerprint(facts.groupId);
  const shares = groupShares(group.participantCount);
  const sharesToday = ledger.weightSince({ kinds: GROUP_KINDS, sinceMs: atMs - DAY_MS });
  const input = { ledger, facts, atMs, fingerprint, shares, sharesToday };
  const refusal = refuseGroup(input) ?? refuseShares(input);
  if (refusal !== undefined) return refusal;
  const caps = messageCaps({ pairedAtMs: facts.pairedAtMs, settings, nowMs: atMs });
  return {
    isAdmitted: true,
    verdict: {
      recipientClass: 'group',
      warmupDay: warmupDay({ pairedAtMs: facts.pairedAtMs, nowMs: atMs }),
      caps: { ...caps, perDay: settings.groupsPerDay, perHour: settings.groupsPerDay },
      usage: {
        today: sharesToday + shares,
        lastHour: ledger.weightSince({ kinds: GROUP_KINDS, sinceMs: atMs - HOUR_MS }) + shares,
        coldToday: ledger.weightSince({ kinds: kindSet('cold'), sinceMs: atMs - DAY_MS }),
        declaredToday: ledger.weightSince({ kinds: kindSet('declared'), sinceMs: atMs - DAY_MS }),
      },
    },
    entry: { kind: 'group', atMs, subject: shares, fingerprint },
  };
}

/** The input of a rule. */
interface RuleInput {
  readonly ledger: SendLedger;
  readonly facts: GroupFacts;
  readonly atMs: number;
  readonly fingerprint: Fingerprint;
  /** The shares that the message takes. */
  readonly shares: number;
  readonly sharesToday: number;
}

/** Refuses more than `groupPerRecipient24h` messages to one group in a day. */
function refuseGroup({
  ledger,
  facts,
  fingerprint,
  atMs,
}: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  const limit = facts.settings.groupPerRecipient24h;
  // While this one counts, the limit is reached.
  const limitReachedByMs = ledger.groupTimesMs({ fingerprint, nowMs: atMs })[limit - 1];
  if (limitReachedByMs === undefined) return undefined;
  return refuseUntil({
    code: 'RECIPIENT_RATE_LIMITED',
    message: `The group got ${limit} messages in the last 24 hours.`,
    reliefMs: limitReachedByMs + DAY_MS,
    nowMs: facts.nowMs,
  });
}

/** Checks the daily budget of shares. A group that takes more than the whole budget is always refused. */
function refuseShares({
  ledger,
  facts,
  shares,
  sharesToday,
}: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  const { groupsPerDay } = facts.settings;
  if (sharesToday + shares <= groupsPerDay) return undefined;
  return refuseUntil({
    code: 'GROUP_DAILY_CAP_REACHED',
    message: `This message needs ${shares} of the shop's ${groupsPerDay} group shares in 24 hours; ${sharesToday} are used.`,
    reliefMs: ledger.roomAtMs({ kinds: GROUP_KINDS, windowMs: DAY_MS, room: groupsPerDay - shares }),
    nowMs: facts.nowMs,
  });
}
