import { DisconnectReason } from '@whiskeysockets/baileys';
import { EgressFailure } from '../../../outbound/egress-failure.ts';
import type { SessionEnd } from '../../session-events.ts';
import { backoffOf } from '../wire/usync-errors.ts';

/** The client's own message if no one scanned any code; its status code is the 408 of any time-out. */
const QR_EXHAUSTED_MESSAGE = 'QR refs attempts ended';

/** Refusals of a login that a later one will also get (tulir/whatsmeow, types/events/events.go). */
const LOGIN_REFUSALS = new Set([400, 409, 411, 413, 414, 415, 416, 417, 418]);

/** The longest stored text of the network about a failed login. */
const LONGEST_WORDS = 300;

/** The reason that the network gave when it ended a session or refused a login. */
export interface Disconnect {
  readonly statusCode: number | undefined;
  readonly message: string;
  readonly networkCode?: number;
  readonly waitMs?: number;
  /** Set if the network did not end it. */
  readonly end?: 'egress_unreachable';
}

/**
 * Reads a disconnect. The client keeps the attributes of a failed login in `data`. For a temporary ban these are `code`
 * and `expire`, a number of seconds. Another attribute has a message for the phone's owner.
 */
export function readDisconnect(error: unknown): Disconnect {
  const { statusCode, message } = readClientError(error);
  const data = dataOf(error);
  // The client stores the socket's failure there.
  if (data instanceof EgressFailure)
    return { statusCode: undefined, message: data.message, end: 'egress_unreachable' };
  const errorData = (data ?? {}) as { readonly [name: string]: unknown };
  const words = [message, errorData.logout_message_header, errorData.logout_message_subtext];
  const networkCode = wholeNumber(errorData.code);
  const seconds = wholeNumber(errorData.expire);
  return {
    statusCode,
    message: words
      .filter((word) => typeof word === 'string')
      .join(': ')
      .slice(0, LONGEST_WORDS),
    ...(networkCode === undefined ? {} : { networkCode }),
    ...(seconds === undefined ? {} : { waitMs: seconds * 1_000 }),
  };
}

function wholeNumber(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the meaning of a disconnect (docs/chat-client.md, Disconnects). Codes not listed are lost connections: 408,
 * 428, 500, 503 and any that the network adds.
 */
export function sessionEndOf(cause: {
  readonly statusCode: number | undefined;
  readonly message: string;
}): SessionEnd {
  if (cause.message === QR_EXHAUSTED_MESSAGE) return 'qr_exhausted';
  switch (cause.statusCode) {
    case 401:
    case 419:
      return 'logged_out';
    case 402:
      return 'temporarily_banned';
    case 403:
    case 406:
      return 'forbidden';
    case 405:
      return 'outdated';
    case 440:
      return 'replaced';
    case 515:
      return 'restart_required';
    default:
      return LOGIN_REFUSALS.has(cause.statusCode ?? 0) ? 'login_refused' : 'transient';
  }
}

/** Returns the status code and message in an error of the client's (a Boom, an iq error) or any other throw. */
export function readClientError(error: unknown): { statusCode: number | undefined; message: string } {
  if (typeof error !== 'object' || error === null) return { statusCode: undefined, message: String(error) };
  const { output, message } = error as { output?: { statusCode?: number }; message?: string };
  return { statusCode: output?.statusCode, message: message ?? 'unknown error' };
}

/** The code with which the client rejects its requests when the socket closes: 428. */
const CONNECTION_CLOSED: number = DisconnectReason.connectionClosed;

/** True if the client rejected a request because the socket closes. */
export function isConnectionClosed(error: unknown): boolean {
  return readClientError(error).statusCode === CONNECTION_CLOSED;
}

/**
 * The codes of the system for a connection that fails, or cannot be made. Files have others, for example `ENOENT`. Both
 * may get `EMFILE`, which is not among them.
 */
const SOCKET_CODES = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ECANCELED',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOBUFS',
  'ENOTCONN',
  'ENOTFOUND',
  'EPIPE',
  'EPROTO',
  'ESHUTDOWN',
  'ETIMEDOUT',
]);

/**
 * True if a socket failed or was closed. A request that waits for its reply then rejects with the socket's error, or
 * with the number of the WebSocket's close code. `ws` gives no code to an error about a socket that is not open.
 */
export function isSocketFailure(error: unknown): boolean {
  if (typeof error === 'number' || isConnectionClosed(error)) return true;
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  if (typeof code !== 'string') return message.startsWith('WebSocket is not open');
  return SOCKET_CODES.has(code) || code.startsWith('WS_ERR_');
}

const dataOf = (error: unknown): unknown => (error as { data?: unknown } | null | undefined)?.data;

/** Returns the code of an iq error, which the client keeps in `data` under a status code of 500. */
export function queryErrorCode(error: unknown): number | undefined {
  const data = dataOf(error);
  return typeof data === 'number' ? data : undefined;
}

/**
 * True if the network reported too many requests: an iq error 429 rejects with `rate-overlimit` and `data: 429`. An
 * error of another code that names a wait counts as well.
 */
export function isRateSignal(error: unknown): boolean {
  const { message } = readClientError(error);
  return (
    queryErrorCode(error) === 429 || message === 'rate-overlimit' || backoffOf(error).backoffMs !== undefined
  );
}
