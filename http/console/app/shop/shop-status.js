// @ts-check
/** A shop's status in one sentence: the first thing an operator with a complaint needs. */
import { away, clockTime, span, words } from '../format.js';
import { WINDOW_NAMES } from './windows.js';
/** @import { Details, SeenShop, Shop } from '../answers.js' */

/**
 * @typedef {{ tone: 'good' | 'calm' | 'warn' | 'bad', text: string, todo?: string }} Said
 */

/**
 * @param {SeenShop} shop a snapshot
 * @returns {Said}
 */
export function shopStatus(shop) {
  const { details } = shop;
  const kept = ofActor(shop);
  if (kept !== undefined) return kept;
  if (details === null) return { tone: 'calm', text: 'It is being loaded.' };
  return (
    ofWorkers(shop, details) ??
    ofTenant(details) ??
    ofHold(details) ??
    ofLoss(details) ??
    ofRefusal(details) ??
    ofChannel(details) ??
    ofUndelivered(details) ??
    ofPacing(details) ??
    ofMailbox(shop) ??
    ofGroups(details) ??
    ofLimits(details) ??
    ofWindows(shop) ??
    well(details)
  );
}

/**
 * Explains why an actor, a shop's or a tenant's, does not run.
 * @param {Pick<Shop, 'status' | 'restarts' | 'lastError'>} actor
 * @returns {Said | undefined}
 */
export function ofActor({ status, restarts, lastError }) {
  const why = lastError === undefined ? '' : ` The last error: ${lastError.message}`;
  if (status === 'suspended') {
    return {
      tone: 'bad',
      // A restarted node knows that the actor is suspended, but not how often it crashed.
      text: `Suspended after ${restarts === 0 ? 'too many' : restarts} crashes.${why}`,
      todo: 'Find and remove the cause, then resume.',
    };
  }
  if (status === 'backoff') return { tone: 'warn', text: `Crashed and waits to start again.${why}` };
  return undefined;
}

/**
 * @param {SeenShop} shop `workers` is known for one shop, not in a list
 * @param {Details} details
 * @returns {Said | undefined}
 */
function ofWorkers({ workers, owner }, details) {
  if (workers !== 'lost') return undefined;
  return {
    tone: 'bad',
    text: `No session worker of ${owner.nodeId} accepts orders: sends are refused with BOT_SERVICE_UNREACHABLE.${waiting(details.queue.depth)}`,
    todo: 'Workers start again by themselves; the log of the node says what ended them.',
  };
}

/** The advice after a lost session, by its end. */
const LOST_TODOS = /** @type {Record<string, string>} */ ({
  forbidden:
    'The network locked or banned the number: ask the owner to open the app on the phone, then connect.',
  replaced: 'Another program uses the same credentials: find and end it, then connect.',
});

/** The meaning of the network's codes for a temporary ban. */
const BAN_CODES = /** @type {Record<number, string>} */ ({
  101: 'too many messages to strangers',
  102: 'too many people blocked the number',
  103: 'too many groups with strangers',
  104: 'one message to too many people',
  106: 'too many messages to a broadcast list',
});

/** From this depth or wait on, callers notice the delay. */
const SLOW_MAILBOX = { depth: 100, ms: 1_000 };

/**
 * @param {SeenShop} shop
 * @returns {Said | undefined}
 */
function ofMailbox({ mailbox }) {
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
function ofLoss({ channel: { flagged, lastEnd } }) {
  if (!flagged) return undefined;
  const why = lastEnd === null ? '' : ` (${words(lastEnd.end)}, ${away(lastEnd.atMs)})`;
  return {
    tone: 'bad',
    text: `The session is lost${why}; queued messages failed with MSGAPP_SESSION_LOST.`,
    todo: LOST_TODOS[lastEnd?.end ?? ''] ?? 'Connect it, and let the phone scan a new code.',
  };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
function ofRefusal({ channel, queue }) {
  const { state, lastEnd, reconnectAtMs } = channel;
  const waits = waiting(queue.depth);
  if (state === 'banned') {
    const code = lastEnd?.networkCode;
    const meaning = code === undefined ? '' : ` (${code}: ${BAN_CODES[code] ?? 'not known here'})`;
    return {
      tone: 'bad',
      text: `The network bans the number${meaning} until ${reconnectAtMs === null ? 'an unknown time' : `${clockTime(reconnectAtMs)}, ${away(reconnectAtMs)}`}.${waits}`,
      todo: 'The shop cannot log in before that. Check what it sent, and tell its owner.',
    };
  }
  if (lastEnd?.end === 'egress_unreachable' && state !== 'connected') {
    return {
      tone: 'bad',
      text: `Its egress makes no connection (${lastEnd.detail}).${waits}`,
      todo: 'The service tries again by itself. Repair the proxy, or set another egress.',
    };
  }
  if (lastEnd?.end === 'outdated' && (state === 'starting' || state === 'reconnecting')) {
    const next = reconnectAtMs === null ? '' : `, next attempt ${away(reconnectAtMs)}`;
    return {
      tone: 'bad',
      text: `The network refuses this version of the client, for all shops${next}.${waits}`,
      todo: "Set another version: docs/operators.md, When the network refuses the client's version.",
    };
  }
  if (lastEnd?.end === 'login_refused' && state !== 'connected') {
    const isOver = state === 'disconnected';
    return {
      tone: 'bad',
      text: `The network refuses its login (${lastEnd.statusCode ?? 'no code'})${isOver ? ', five times' : ''}.${waits}`,
      todo: isOver ? 'Connect it to try again.' : 'The service tries again by itself, five times in all.',
    };
  }
  return undefined;
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
function ofChannel({ channel, queue, transitions }) {
  const { state, lastEnd, reconnectAtMs, downSinceMs, attempts } = channel;
  const waits = waiting(queue.depth);
  if (state === 'reconnecting') {
    const down = downSinceMs === null ? '' : ` for ${span(Date.now() - downSinceMs)}`;
    const next = reconnectAtMs === null ? '' : `, next attempt ${away(reconnectAtMs)}`;
    return {
      tone: 'warn',
      text: `Without a session${down}: ${attempts} attempts to reconnect${next}.${waits}`,
    };
  }
  if (state === 'starting') return { tone: 'warn', text: `A session is being opened.${waits}` };
  if (state === 'qr_waiting')
    return { tone: 'warn', text: `A code waits to be scanned.${waits}`, todo: 'Show the code to the phone.' };
  if (state === 'code_waiting') {
    return {
      tone: 'warn',
      text: `A code waits to be typed on the phone.${waits}`,
      todo: 'Ask the owner to type it.',
    };
  }
  if (state === 'unconfigured')
    return { tone: 'calm', text: 'Nobody ever connected this shop.', todo: 'Connect it.' };
  if (state === 'disconnected') {
    if (lastEnd?.end === 'passkey_required') {
      return {
        tone: 'bad',
        text: `Disconnected: the account links devices only with a passkey, which this service cannot use.${waits}`,
        todo: 'Ask the owner to remove the passkey in the app, then connect again.',
      };
    }
    if (lastEnd?.end === 'number_in_use') {
      return {
        tone: 'bad',
        text: `Disconnected: the number that was scanned is not free, ${lastEnd.detail}.${waits}`,
        todo: 'Disconnect that shop, or have another phone scan a new code.',
      };
    }
    // After a requested disconnect, the last end belongs to an earlier session.
    const step = transitions.findLast(({ machine }) => machine === 'channel');
    const why =
      lastEnd === null || step?.event !== 'closed'
        ? ''
        : ` since ${clockTime(lastEnd.atMs)} (${words(lastEnd.end)})`;
    return {
      tone: 'warn',
      text: `Disconnected${why}: sends are refused with MSGAPP_NOT_CONNECTED.${waits}`,
      todo: 'Connect it.',
    };
  }
  return undefined;
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
function ofUndelivered({ undelivered, queue }) {
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
function ofTenant({ tenantActive, queue }) {
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
function ofHold({ pacing, queue, channel }) {
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
function ofPacing({ pacing, queue }) {
  if (pacing.state !== 'paused') return undefined;
  const { untilMs } = pacing;
  const end = untilMs === null ? 'further notice' : `${clockTime(untilMs)}, ${away(untilMs)}`;
  return { tone: 'warn', text: `Paused by the network's rate signal until ${end}.${waiting(queue.depth)}` };
}

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
function ofGroups({ groups, queue }) {
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
function ofLimits({ limits: { restriction, newChats } }) {
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
function ofWindows({ policy }) {
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
function well({ pacing, queue }) {
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

/** @param {number} depth */
function messages(depth) {
  return depth === 1 ? '1 message' : `${depth} messages`;
}

/** @param {number} depth */
function waiting(depth) {
  return depth === 0 ? '' : ` ${messages(depth)} ${depth === 1 ? 'waits' : 'wait'}.`;
}
