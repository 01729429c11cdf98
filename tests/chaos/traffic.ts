import assert from 'node:assert/strict';
import { systemClock } from '../../runtime/clock.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { sendText, untilEnded } from '../e2e/stack/shop-steps.ts';
import { pause } from '../testbed/waiting.ts';
import type { ChaosShop } from './chaos-shops.ts';

/** A message whose caller got the acceptance. */
interface Accepted {
  readonly shop: ChaosShop;
  readonly id: string;
  readonly to: string;
  readonly text: string;
  /** Wall-clock time of the answer. */
  readonly acceptedAtMs: number;
}

/** How a message ended. */
export interface MessageEnd {
  readonly id: string;
  readonly shopId: string;
  readonly status: string;
}

/** A span of time by the wall clock. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The results of a run's messages. Lost and doubled must be 0. */
export interface Outcomes {
  readonly accepted: number;
  readonly sent: number;
  /** Failed `BOT_RESTARTED`: being sent when a process died; on a handset once at most. */
  readonly uncertain: number;
  /** Reported as sent, and on no handset. */
  readonly lost: number;
  /** On a handset more than once. */
  readonly doubled: number;
  /** Accepted while Redis forgot what it acknowledged, and unknown since. */
  readonly forgotten: number;
  /** On a handset more than once, the first time while Redis forgot what it acknowledged. */
  readonly repeated: number;
  /** Ended otherwise, which nothing here gives a reason for. */
  readonly others: readonly string[];
}

/** Callers that send and read all the while. */
export interface Traffic {
  /** Resolves when every message was accepted. Rejects if one was refused or got no answer. */
  readonly accepted: Promise<void>;
  /**
   * Waits for that and for the end of every message, and looks into the handsets. `lostByRedis`: what Redis forgot
   * of this time is no fault of the service's.
   */
  outcomes(lostByRedis?: TimeSpan): Promise<Outcomes & { readonly ends: readonly MessageEnd[] }>;
}

/**
 * Makes each shop send a number of messages, each to another customer, at random times within `overMs`, while others
 * read.
 */
export function startTraffic(
  fleet: Fleet,
  shops: readonly ChaosShop[],
  options: { readonly random: () => number; readonly messagesPerShop: number; readonly overMs: number },
): Traffic {
  const { random, messagesPerShop, overMs } = options;
  const messages: Accepted[] = [];
  const sends = shops.flatMap((shop) =>
    shop.freshRecipients.splice(0, messagesPerShop).map(async (to) => {
      // Short, since composing is shown for as long as a text takes to type.
      const text = to.slice(-4);
      await pause(random() * overMs);
      const answer = await sendText(shop, shop.id, { to, text, idempotencyKey: to });
      assert.ok(answer.status === 202 || answer.status === 200, JSON.stringify(answer.error));
      messages.push({ shop, id: String(answer.data.id), to, text, acceptedAtMs: systemClock.wallMs() });
    }),
  );
  let isSending = true;
  const reads = shops.map(async (shop) => {
    while (isSending) {
      assert.equal((await shop.api.get('/me')).status, 200);
      await pause(random() * 100);
    }
  });
  const sending = Promise.all(sends).finally(() => {
    isSending = false;
  });
  // One list, so that each failure is looked at. One that is not would end the process.
  const accepted = Promise.all([sending, ...reads]).then(() => undefined);
  // A failure reaches the caller that waits for it. Until then it must not end the process.
  accepted.catch(() => undefined);
  return {
    accepted,
    async outcomes(lostByRedis) {
      await accepted;
      const outcomes = await Promise.all(messages.map((message) => endOf(fleet, message, lostByRedis)));
      const ends = messages.map(({ id, shop }, index) => {
        return { id, shopId: shop.id, status: outcomes[index]?.status ?? '' };
      });
      return { ...outcomesOf(outcomes), ends };
    },
  };
}

interface MessageOutcome {
  readonly status: string;
  readonly reason: string;
  readonly deliveries: number;
  /** The first delivery was while Redis forgot what it acknowledged. */
  readonly mayRepeat: boolean;
}

/** An answer is on its way for a moment after its commit. */
const ANSWER_MS = 500;

async function endOf(fleet: Fleet, message: Accepted, lostByRedis?: TimeSpan): Promise<MessageOutcome> {
  const isForgotten = lostByRedis !== undefined && (await isUnknown(message, lostByRedis));
  const { status, reason } = isForgotten
    ? { status: 'forgotten', reason: '' }
    : await untilEnded(message.shop, message.id);
  const { items } = await fleet.network.inbox(message.to);
  const deliveredEntries = items.filter(({ text }) => text === message.text);
  const firstMs = Math.min(...deliveredEntries.map(({ at }) => Date.parse(at)));
  return {
    status: String(status),
    reason: String(reason),
    deliveries: deliveredEntries.length,
    mayRepeat: lostByRedis !== undefined && firstMs >= lostByRedis.fromMs,
  };
}

/** True if the message was accepted in that time and no longer exists. */
async function isUnknown({ shop, id, acceptedAtMs }: Accepted, span: TimeSpan): Promise<boolean> {
  if (acceptedAtMs < span.fromMs || acceptedAtMs > span.untilMs + ANSWER_MS) return false;
  return (await shop.api.get(`/messages/${id}`)).status === 404;
}

function outcomesOf(outcomes: readonly MessageOutcome[]): Outcomes {
  const isUncertain = ({ status, reason }: MessageOutcome) =>
    status === 'failed' && reason === 'BOT_RESTARTED';
  const doubled = outcomes.filter(({ deliveries }) => deliveries > 1);
  return {
    accepted: outcomes.length,
    sent: outcomes.filter(({ status }) => status === 'sent').length,
    uncertain: outcomes.filter(isUncertain).length,
    lost: outcomes.filter(({ status, deliveries }) => status === 'sent' && deliveries === 0).length,
    doubled: doubled.filter(({ mayRepeat }) => !mayRepeat).length,
    forgotten: outcomes.filter(({ status }) => status === 'forgotten').length,
    repeated: doubled.filter(({ mayRepeat }) => mayRepeat).length,
    others: outcomes
      .filter((outcome) => !['sent', 'forgotten'].includes(outcome.status) && !isUncertain(outcome))
      .map(({ status, reason }) => `${status} ${reason}`),
  };
}
