// @ts-check
/** The parts of a shop's status that come from its mailbox, queue and limits. */
import { away, clockTime, span, words } from '../format.js';
import { messages, waiting } from './said.js';
import { WINDOW_NAMES } from './windows.js';

/** @import { Details, SeenShop } from '../answers.js' */
/** @import { Said } from './said.js' */

/** From this depth or wait on, callers notice the delay. */
const SLOW_MAILBOX = { depth: 100, ms: 1_000 };

/**
 * @param {SeenShop} shop
 * @returns {Said | undefined}
 */
export function ofMailbox({ mailbox }) {
  const { depth, oldestQueuedMs } = mailbox;
  if (depth < SLOW_MAILBOX.depth && oldestQueuedMs < SLOW_MAILBOX.ms) return undefined;
  return {
    tone: 'warn',
    text: `Connected, but ${depth} commands wait in its mailbox, the oldest for ${span(oldestQueuedMs)}; when it is full, sends are refused with OVERLOADED.`,
    todo: 'One client may send too fast, or Redis is slow: see the overview.',
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofUndelivered({ undelivered, queue }) {
  if (!undelivered?.isLong) return undefined;
  return {
    tone: 'bad',
    text: `Connected, but none of its ${undelivered.count} messages since ${clockTime(undelivered.sinceMs)} reached a recipient.${waiting(queue.depth)}`,
    todo: 'Pause it and look at the phone: the network may restrict the number without an announcement.',
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofTenant({ tenantActive, queue }) {
  if (tenantActive !== false) return undefined;
  return {
    tone: 'warn',
    text: `Its tenant is inactive: calls are refused with TENANT_INACTIVE, and nothing is sent.${waiting(queue.depth)}`,
    todo: 'Activate the tenant on its page. The queue then continues.',
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofHold({ pacing, queue, channel }) {
  if (!pacing.heldByOperator || channel.flagged) return undefined;
  const also = channel.state === 'connected' ? '' : ` It is also ${words(channel.state)}.`;
  return {
    tone: 'warn',
    text: `Held by an operator.${also}${waiting(queue.depth)}`,
    todo: 'Resume it to send again.',
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofPacing({ pacing, queue }) {
  if (pacing.state !== 'paused') return undefined;
  const { untilMs } = pacing;
  const end = untilMs === null ? 'further notice' : `${clockTime(untilMs)}, ${away(untilMs)}`;
  return { tone: 'warn', text: `Paused by the network's rate signal until ${end}.${waiting(queue.depth)}` };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofGroups({ groups, queue }) {
  const isWaiting = queue.waiting.some(({ to }) => to.endsWith('@g.us'));
  if (groups !== null || !isWaiting) return undefined;
  return {
    tone: 'warn',
    text: `Connected, but the network has not listed the groups of this session: messages to groups wait, all others are sent.${waiting(queue.depth)}`,
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofLimits({ limits: { restriction, newChats } }) {
  if (restriction !== null) {
    const { kind, untilMs, isEndKnown } = restriction;
    const end = `until ${isEndKnown ? '' : 'about '}${clockTime(untilMs)}, ${away(untilMs)}`;
    return {
      tone: 'warn',
      text: `Connected, but the network allows this number no new chats ${end} (${kind}). Messages to people who wrote are still sent.`,
      todo: 'Wait for the end; docs/number-in-trouble.md explains the causes.',
    };
  }
  if (newChats === null || newChats.warning === null) return undefined;
  const { quota, used, endsAtMs } = newChats;
  const end = endsAtMs === null ? '' : `; the quota starts again ${away(endsAtMs)}`;
  return {
    tone: 'warn',
    text: `Connected, but the network warns: ${used} of its ${quota} messages to people who have not answered are used${end}.`,
    todo: 'Write to fewer people who never wrote.',
  };
}

/**
 * @param {SeenShop} shop
 * @returns {Said | undefined}
 */
export function ofWindows({ policy }) {
  const full = policy?.windows.filter(({ used, cap }) => used >= cap) ?? [];
  if (full.length === 0) return undefined;
  const names = full.map(
    ({ window, nextReliefMs }) =>
      `${(WINDOW_NAMES[window] ?? window).toLowerCase()} (free again ${nextReliefMs === null ? 'never' : away(nextReliefMs)})`,
  );
  return { tone: 'warn', text: `Connected, but a cap is reached: ${names.join(', ')}.` };
}

/**
 * @param {Details} details
 * @returns {Said}
 */
export function well({ pacing, queue }) {
  if (pacing.state === 'gap') {
    return {
      tone: 'good',
      text: `Connected; ${messages(queue.depth)} wait, the next leaves ${pacing.untilMs === null ? 'at once' : away(pacing.untilMs)}.`,
    };
  }
  if (queue.inHand !== null)
    return { tone: 'good', text: `Connected and ${pacing.state}; ${messages(queue.depth)} behind it.` };
  return { tone: 'good', text: 'Connected; nothing waits.' };
}
