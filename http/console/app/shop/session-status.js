// @ts-check
/** The parts of a shop's status that come from its session and its workers. */
import { away, clockTime, span, words } from '../format.js';
import { waiting } from './said.js';
/** @import { Details, SeenShop } from '../answers.js' */
/** @import { Said } from './said.js' */

/**
 * @param {SeenShop} shop `workers` is known for one shop, not in a list
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofWorkers({ workers, owner }, details) {
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

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofLoss({ channel: { flagged, lastEnd } }) {
  if (!flagged) return undefined;
  const why = lastEnd === null ? '' : ` (${words(lastEnd.end)}, ${away(lastEnd.atMs)})`;
  return {
    tone: 'bad',
    text: `The session is lost${why}; queued messages failed with MSGAPP_SESSION_LOST.`,
    todo: LOST_TODOS[lastEnd?.end ?? ''] ?? 'Connect it, and let the phone scan a new code.',
  };
}

/** The meaning of the network's codes for a temporary ban. */
const BAN_CODES = /** @type {Record<number, string>} */ ({
  101: 'too many messages to strangers',
  102: 'too many people blocked the number',
  103: 'too many groups with strangers',
  104: 'one message to too many people',
  106: 'too many messages to a broadcast list',
});

/**
 * @param {Details} details
 * @returns {Said | undefined}
 */
export function ofRefusal({ channel, queue }) {
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
export function ofChannel({ channel, queue, transitions }) {
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
