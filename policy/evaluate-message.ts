import { DAY_MS, HOUR_MS, MINUTE_MS } from '../runtime/durations.ts';
import { hasText, refuseContent } from './content-rules.ts';
import { type Bar, classCapCode, type NetworkLimits, newChatBar, quotaShare } from './network-limits.ts';
import { recipientKey } from './number-forms.ts';
import { type DeclarationFact, type PersonClass, personClassAt } from './recipient-class.ts';
import { type MessagePolicyCode, type PolicyRefusal, refuse, refuseUntil } from './refusal.ts';
import { type KindSet, kindSet, type MessageTally, type SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';
import { mediaFingerprint, textFingerprint } from './text-fingerprint.ts';
import type { Evaluation } from './verdict.ts';
import {
  coldCap,
  hourlyCap,
  type MessageCaps,
  messageCaps,
  reliefAcrossWarmup,
  shareOf,
  warmupDay,
} from './warm-up.ts';

/** Most messages to one recipient in 24 hours (docs/contract.md, Messages to numbers). */
export const RECIPIENT_PER_DAY = 3;

/**
 * Least time between two messages to a recipient who did not reply in between (docs/contract.md, Messages to
 * numbers).
 */
export const RECIPIENT_SPACING_MS = 10 * MINUTE_MS;

/** Most distinct numbers that may get the same content within an hour (docs/contract.md, Messages to numbers). */
export const BULK_RECIPIENTS_PER_HOUR = 20;

/** The facts for the decision on a message to a number, in addition to the ledger of the shop's sends. */
export interface MessageFacts {
  /**
   * The number that the network knows, else the one that the caller wrote, in E.164 shape. For a person without a known
   * number it is the network's own id. `evaluateMessage` throws for any other text. All forms count as one
   * (`recipientKey`).
   */
  readonly recipient: string;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  /** The number matches a stored customer record of the tenant. */
  readonly isCustomer: boolean;
  /** When the number last wrote to this shop; `null`: never. */
  readonly lastInboundAtMs: number | null;
  /** The number's latest message to this shop was an opt-out (`isOptOut`). */
  readonly hasOptedOut: boolean;
  /** The tenant's declaration of the number, valid or not. */
  readonly declaration: DeclarationFact | null;
  /** The network's limits on messages to people who have no chat with the number. Absent if none is known. */
  readonly network?: NetworkLimits;
  /** Pairing of the shop's current credentials; `null`: never paired. */
  readonly pairedAtMs: number | null;
  readonly settings: TenantSettings;
  /** The part of each cap and of the network's quota that counts, from 0 to 1. If absent, all of it counts. */
  readonly share?: number | undefined;
  readonly nowMs: number;
}

const MESSAGE_KINDS = kindSet('known', 'cold', 'declared');

/** The input of the rules in one evaluation: the facts, and the counts of the ledger at `atMs`. */
interface RuleInput {
  readonly facts: MessageFacts;
  readonly ledger: SendLedger;
  readonly tally: MessageTally;
  readonly caps: MessageCaps;
  readonly personClass: PersonClass;
  /** The moment of the decision in Unix milliseconds: now, but never earlier than the newest entry of the ledger. */
  readonly atMs: number;
}

/**
 * Decides on a 1:1 message. The rules run in the order of docs/contract.md, Order of policy checks. The first that
 * refuses gives the answer. The order is: content, opt-out, bulk pattern, recipient limit, daily, hourly, cold or
 * declared. Changes nothing: record the admission's entry after its commit.
 */
export function evaluateMessage(ledger: SendLedger, facts: MessageFacts): Evaluation {
  const { text, mediaUrl, settings, pairedAtMs, share } = facts;
  const contentRefusal = refuseContent(text, mediaUrl);
  if (contentRefusal !== undefined) return contentRefusal;
  if (facts.hasOptedOut) {
    return refuse(
      'RECIPIENT_OPTED_OUT',
      'The recipient opted out; they may be written to again once they write in.',
    );
  }
  const atMs = ledger.effectiveNowMs(facts.nowMs);
  const recipient = recipientKey(facts.recipient);
  const fingerprint = hasText(text) ? textFingerprint(text) : mediaFingerprint(mediaUrl ?? '');
  const tally = ledger.tallyMessages({ recipient, fingerprint, nowMs: atMs });
  const personClass = personClassAt(facts, atMs);
  const caps = messageCaps({ settings, pairedAtMs, share, nowMs: atMs });
  const input: RuleInput = { facts, ledger, tally, caps, personClass, atMs };
  const refusal =
    refuseBulk(input) ?? refuseRecipient(input) ?? refuseBudget(input) ?? refuseClassBudget(input);
  if (refusal !== undefined) return refusal;
  return {
    isAdmitted: true,
    verdict: {
      recipientClass: personClass,
      warmupDay: warmupDay({ pairedAtMs, nowMs: atMs }),
      caps,
      usage: {
        today: tally.today + 1,
        lastHour: tally.lastHour + 1,
        coldToday: tally.coldToday + (personClass === 'cold' ? 1 : 0),
        declaredToday: tally.declaredToday + (personClass === 'declared' ? 1 : 0),
      },
    },
    entry: { kind: personClass, atMs, subject: recipient, fingerprint },
  };
}

/** Refuses a content that 20 other numbers got within an hour, until the oldest of the newest 20 is an hour old. */
function refuseBulk({ facts, tally }: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  const twentiethMs = tally.sameContentMs[BULK_RECIPIENTS_PER_HOUR - 1];
  if (twentiethMs === undefined) return undefined;
  return refuseUntil({
    code: 'BULK_PATTERN_BLOCKED',
    message: `${BULK_RECIPIENTS_PER_HOUR} other numbers got this content within an hour.`,
    reliefMs: twentiethMs + HOUR_MS,
    nowMs: facts.nowMs,
  });
}

/** Refuses a fourth message in 24 hours, and one within 10 minutes of the last if the recipient has not replied. */
function refuseRecipient({ facts, tally, atMs }: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  if (tally.toRecipientMs.length === 0) return undefined;
  const { roomAtMs, spacedAtMs } = recipientRelief(tally.toRecipientMs, facts.lastInboundAtMs, atMs);
  const reliefMs = Math.max(roomAtMs, spacedAtMs);
  if (reliefMs <= atMs) return undefined;
  const message =
    roomAtMs > atMs
      ? `The recipient got ${RECIPIENT_PER_DAY} messages in the last 24 hours.`
      : `The recipient got a message less than ${RECIPIENT_SPACING_MS / MINUTE_MS} minutes ago and has not replied since.`;
  return refuseUntil({ code: 'RECIPIENT_RATE_LIMITED', message, reliefMs, nowMs: facts.nowMs });
}

/**
 * Returns when each limit of a recipient next lets a message through, from `atMs` on. `sentMs`: earlier messages to the
 * recipient, newest first.
 */
function recipientRelief(
  sentMs: readonly number[],
  lastInboundAtMs: number | null,
  atMs: number,
): { readonly roomAtMs: number; readonly spacedAtMs: number } {
  const lastMs = sentMs[0];
  const thirdMs = sentMs[RECIPIENT_PER_DAY - 1];
  const roomAtMs = thirdMs === undefined ? atMs : thirdMs + DAY_MS;
  // A reply in the same millisecond as the message counts as earlier. So a doubtful case sends nothing.
  const isReplied = lastMs !== undefined && lastInboundAtMs !== null && lastInboundAtMs > lastMs;
  const spacedAtMs = lastMs === undefined || isReplied ? atMs : lastMs + RECIPIENT_SPACING_MS;
  return { roomAtMs, spacedAtMs };
}

/**
 * Returns whether an accepted message would have been refused for its recipient's limits under the number that the
 * network uses. This happens if somebody wrote to two forms of a number before the network reported either.
 *
 * The rule looks back to the message's acceptance, and counts the messages that were accepted for the recipient before
 * it. A message whose number never changed always passes. `waiting` is the number of messages to the recipient that
 * were accepted after it and still wait.
 */
export function exceedsRecipientLimits(
  ledger: SendLedger,
  facts: {
    readonly recipient: string;
    readonly waiting: number;
    readonly lastInboundAtMs: number | null;
    readonly nowMs: number;
  },
): boolean {
  const { recipient, waiting, lastInboundAtMs, nowMs } = facts;
  const times = ledger.messageTimesMs({
    recipient: recipientKey(recipient),
    nowMs: ledger.effectiveNowMs(nowMs),
  });
  const acceptedMs = times[waiting];
  if (acceptedMs === undefined) return false;
  const { roomAtMs, spacedAtMs } = recipientRelief(times.slice(waiting + 1), lastInboundAtMs, acceptedMs);
  return Math.max(roomAtMs, spacedAtMs) > acceptedMs;
}

/** Checks the daily cap of the warm-up, then the hourly cap that follows from it. */
function refuseBudget(input: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  const { facts, tally, caps } = input;
  const { nowMs } = facts;
  if (tally.today >= caps.perDay) {
    const reliefMs = capReliefMs(input, {
      kinds: MESSAGE_KINDS,
      windowMs: DAY_MS,
      capOf: (perDay) => perDay,
    });
    const message = `The shop has sent the ${caps.perDay} messages that it may send in 24 hours.`;
    return refuseUntil({ code: 'DAILY_CAP_REACHED', message, reliefMs, nowMs });
  }
  if (tally.lastHour >= caps.perHour) {
    const reliefMs = capReliefMs(input, { kinds: MESSAGE_KINDS, windowMs: HOUR_MS, capOf: hourlyCap });
    const message = `The shop has sent the ${caps.perHour} messages that it may send in an hour.`;
    return refuseUntil({ code: 'HOURLY_CAP_REACHED', message, reliefMs, nowMs });
  }
  return undefined;
}

/** Returns when a cap that follows from the daily cap next lets a message through. */
function capReliefMs(
  { facts, ledger, atMs }: RuleInput,
  cap: { readonly kinds: KindSet; readonly windowMs: number; readonly capOf: (perDay: number) => number },
): number {
  const { kinds, windowMs, capOf } = cap;
  return reliefAcrossWarmup({
    pairedAtMs: facts.pairedAtMs,
    nowMs: atMs,
    roomAtMs: (perDay) => ledger.roomAtMs({ kinds, windowMs, room: shareOf(capOf(perDay), facts.share) - 1 }),
  });
}

/**
 * Checks the budget of cold or of declared recipients; neither uses capacity of the other. The network's own limits
 * apply to everyone who has no chat with the number and so never wrote, in any class. Both must let the message
 * through.
 */
function refuseClassBudget(input: RuleInput): PolicyRefusal<MessagePolicyCode> | undefined {
  const { facts, atMs, personClass } = input;
  const { lastInboundAtMs, nowMs, share } = facts;
  const network = facts.network && quotaShare(facts.network, share);
  const bar = network !== undefined && lastInboundAtMs === null ? newChatBar(network, atMs) : undefined;
  const spentBar = spentBudget(input);
  const named = bar ?? spentBar;
  if (named === undefined) return undefined;
  // Both must let it through, so the later one counts.
  const reliefMs = Math.max(named.reliefMs, (spentBar ?? named).reliefMs);
  return refuseUntil({ code: classCapCode(personClass), message: named.message, reliefMs, nowMs });
}

/** Returns the bar of the shop's own budget of the class, or undefined if that lets the message through. */
function spentBudget(input: RuleInput): Bar | undefined {
  const { facts, ledger, tally, caps, personClass } = input;
  if (personClass === 'declared' && tally.declaredToday >= caps.declaredPerDay) {
    const room = caps.declaredPerDay - 1;
    const roomAtMs = ledger.roomAtMs({ kinds: kindSet('declared'), windowMs: DAY_MS, room });
    // Once the declaration expires the recipient is cold, and this rule no longer applies.
    const reliefMs = Math.min(roomAtMs, facts.declaration?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const message = `The shop has sent the ${caps.declaredPerDay} messages that it may send to declared recipients in 24 hours.`;
    return { message, reliefMs };
  }
  if (personClass === 'cold' && tally.coldToday >= caps.coldPerDay) {
    const reliefMs = capReliefMs(input, {
      kinds: kindSet('cold'),
      windowMs: DAY_MS,
      capOf: (perDay) => coldCap(perDay, facts.settings),
    });
    const message = `The shop has sent the ${caps.coldPerDay} messages that it may send to cold recipients in 24 hours.`;
    return { message, reliefMs };
  }
  return undefined;
}
