// @ts-check
/** How a shop stands, in one sentence: what an operator with a complaint in hand wants to know first. */
import { away, clockTime, span, words } from './format.js';
import { WINDOW_NAMES } from './windows.js';

/**
 * @typedef {{ tone: 'good' | 'calm' | 'warn' | 'bad', text: string, todo?: string }} Said
 */

/**
 * @param {any} shop a snapshot
 * @returns {Said}
 */
export function standing(shop) {
  return (
    ofActor(shop) ??
    ofWorkers(shop) ??
    ofHold(shop.details) ??
    ofChannel(shop.details) ??
    ofPacing(shop.details) ??
    ofMailbox(shop) ??
    ofGroups(shop.details) ??
    ofColdPause(shop.details) ??
    ofWindows(shop) ??
    well(shop.details)
  );
}

/**
 * What keeps an actor from running, a shop's or a tenant's.
 * @param {any} actor
 * @returns {Said | undefined}
 */
export function ofActor({ status, restarts, lastError }) {
  const why = lastError === undefined ? '' : ` The last error: ${lastError.message}`;
  if (status === 'suspended') {
    return {
      tone: 'bad',
      // A node that started again knows that it is suspended, and no more.
      text: `Suspended after ${restarts === 0 ? 'too many' : restarts} crashes.${why}`,
      todo: 'Find the cause, then resume.',
    };
  }
  if (status === 'backoff') return { tone: 'warn', text: `Crashed and waits to start again.${why}` };
  return undefined;
}

/**
 * @param {any} shop `workers` is told of one shop, not in a list
 * @returns {Said | undefined}
 */
function ofWorkers({ workers, owner, details }) {
  if (workers !== 'lost') return undefined;
  return {
    tone: 'bad',
    text: `No session worker takes orders on ${owner.nodeId}: sends are refused with BOT_SERVICE_UNREACHABLE.${waiting(details.queue.depth)}`,
    todo: 'Workers start again by themselves; the log of the node says what ended them.',
  };
}

/** Where commands wait this long or this many, those who send feel it. */
const SLOW_MAILBOX = { depth: 100, ms: 1_000 };

/**
 * @param {any} shop
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
 * @param {any} details
 * @returns {Said | undefined}
 */
function ofChannel({ channel, queue, transitions }) {
  const { state, lastEnd, flagged, reconnectAtMs, downSinceMs, attempts } = channel;
  const waits = waiting(queue.depth);
  if (flagged) {
    const why = lastEnd === null ? '' : ` (${lastEnd.end.replaceAll('_', ' ')}, ${away(lastEnd.atMs)})`;
    return {
      tone: 'bad',
      text: `The session is lost${why}; what was queued failed with MSGAPP_SESSION_LOST.`,
      todo: 'Connect and have the phone scan a new code.',
    };
  }
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
  if (state === 'unconfigured')
    return { tone: 'calm', text: 'Nobody ever connected this shop.', todo: 'Connect it.' };
  if (state === 'disconnected') {
    // Where it was asked to disconnect, the last end is that of a session before.
    const step = transitions.findLast((/** @type {any} */ { machine }) => machine === 'channel');
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
 * @param {any} details
 * @returns {Said | undefined}
 */
function ofHold({ pacing, queue, channel }) {
  if (!pacing.heldByOperator || channel.flagged) return undefined;
  const also = channel.state === 'connected' ? '' : ` It is ${channel.state.replaceAll('_', ' ')} besides.`;
  return {
    tone: 'warn',
    text: `Paused by an operator.${also}${waiting(queue.depth)}`,
    todo: 'Resume to let the queue go on.',
  };
}

/**
 * @param {any} details
 * @returns {Said | undefined}
 */
function ofPacing({ pacing, queue }) {
  const waits = waiting(queue.depth);
  if (pacing.state === 'paused') {
    return {
      tone: 'warn',
      text: `Paused by the network's rate signal until ${clockTime(pacing.untilMs)}, ${away(pacing.untilMs)}.${waits}`,
    };
  }
  return undefined;
}

/**
 * @param {any} details
 * @returns {Said | undefined}
 */
function ofGroups({ groups, queue }) {
  const isWaiting = queue.waiting.some((/** @type {any} */ { to }) => to.endsWith('@g.us'));
  if (groups !== null || !isWaiting) return undefined;
  return {
    tone: 'warn',
    text: `Connected, but the network has not told the groups of this session: what goes to a group waits, all else goes on.${waiting(queue.depth)}`,
  };
}

/**
 * @param {any} details
 * @returns {Said | undefined}
 */
function ofColdPause({ pacing }) {
  const untilMs = pacing.coldPausedUntilMs ?? null;
  if (untilMs === null) return undefined;
  return {
    tone: 'warn',
    text: `Connected, but no stranger is written to until ${clockTime(untilMs)}, ${away(untilMs)}: the network refused one as one too many. Known and declared recipients go on.`,
  };
}

/**
 * @param {any} shop
 * @returns {Said | undefined}
 */
function ofWindows({ policy }) {
  const full = policy?.windows.filter((/** @type {any} */ { used, cap }) => used >= cap) ?? [];
  if (full.length === 0) return undefined;
  const names = full.map(
    (/** @type {any} */ { window, nextReliefMs }) =>
      `${(WINDOW_NAMES[window] ?? window).toLowerCase()} (room ${nextReliefMs === null ? 'never' : away(nextReliefMs)})`,
  );
  return { tone: 'warn', text: `Connected, but a cap is reached: ${names.join(', ')}.` };
}

/**
 * @param {any} details
 * @returns {Said}
 */
function well({ pacing, queue }) {
  if (pacing.state === 'gap')
    return {
      tone: 'good',
      text: `Connected; ${messages(queue.depth)} wait, the next goes ${away(pacing.untilMs)}.`,
    };
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
