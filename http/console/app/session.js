// @ts-check
/** The operator's token and the calls made with it. The token lives in this tab alone and never in an address. */

const TOKEN_NAME = 'operator-token';
const OPERATOR_NAME = 'operator';
/** Each includes what those before it may do. */
const ROLES = ['read', 'operate', 'admin'];
const BASE_PATH = '/admin/v1';

/** @type {Set<() => void>} */
const signOutListeners = new Set();

/** A call that failed: the service's status and code. */
export class CallFailure extends Error {
  /** @param {{ status: number, code: string, message: string, fields?: { field: string, message: string }[] }} refusal */
  constructor({ status, code, message, fields = [] }) {
    super(fields.length === 0 ? message : fields.map((each) => `${each.field} ${each.message}`).join('; '));
    /** 0: no answer came. */
    this.status = status;
    this.code = code;
  }
}

/** @returns {string} empty when nobody is signed in */
export function token() {
  return sessionStorage.getItem(TOKEN_NAME) ?? '';
}

/** @returns {{ name: string, role: string }} the operator of the token, from the sign-in */
export function operator() {
  return JSON.parse(sessionStorage.getItem(OPERATOR_NAME) ?? '{"name":"","role":"read"}');
}

/**
 * Returns why the operator may not do what needs a role. Undefined if it may.
 * @param {string} role
 * @returns {string | undefined}
 */
export function roleRefusal(role) {
  const held = operator().role;
  if (ROLES.indexOf(held) >= ROLES.indexOf(role)) return undefined;
  return `This asks for the role ${role}; yours is ${held}.`;
}

/**
 * @param {string} value
 * @param {{ name: string, role: string }} owner
 */
export function keepToken(value, owner) {
  sessionStorage.setItem(OPERATOR_NAME, JSON.stringify(owner));
  sessionStorage.setItem(TOKEN_NAME, value);
}

/** Forgets the token and notifies the parts that need it. */
export function signOut() {
  sessionStorage.removeItem(TOKEN_NAME);
  sessionStorage.removeItem(OPERATOR_NAME);
  for (const listener of signOutListeners) listener();
}

/**
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onSignOut(listener) {
  signOutListeners.add(listener);
  return () => signOutListeners.delete(listener);
}

/**
 * Sends a request to the operators' API. Throws `CallFailure`.
 * @template Data
 * @param {string} path below the base path, with its query
 * @param {{ method?: string, body?: unknown, token?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<Data>} the value of `data`
 */
export async function call(path, options = {}) {
  const { method = 'GET', body, signal } = options;
  const headers = new Headers({ authorization: `Bearer ${options.token ?? token()}` });
  if (body !== undefined) headers.set('content-type', 'application/json');
  const answer = await send(BASE_PATH + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  // A proxy may answer with its own page. Then the status below is reported.
  const envelope = await answer.json().catch(() => undefined);
  if (answer.ok && envelope?.success) return envelope.data;
  if (answer.status === 401 && options.token === undefined) signOut();
  const {
    code = 'UNREADABLE',
    message = `The service answered ${answer.status}.`,
    fields,
  } = envelope?.error ?? {};
  throw new CallFailure({ status: answer.status, code, message, fields });
}

/**
 * Opens the stream of events, from the one after `lastEventId`. Throws `CallFailure`.
 * @param {{ lastEventId: string, signal: AbortSignal }} options
 * @returns {Promise<ReadableStream<Uint8Array>>}
 */
export async function openEvents({ lastEventId, signal }) {
  const headers = new Headers({ authorization: `Bearer ${token()}` });
  if (lastEventId !== '') headers.set('last-event-id', lastEventId);
  const answer = await send(`${BASE_PATH}/events`, { headers, signal });
  if (answer.ok && answer.body !== null) return answer.body;
  if (answer.status === 401) signOut();
  throw new CallFailure({
    status: answer.status,
    code: 'NO_EVENTS',
    message: 'The event stream did not open.',
  });
}

/**
 * @param {string} url
 * @param {RequestInit} init
 */
async function send(url, init) {
  try {
    return await fetch(url, { ...init, cache: 'no-store', credentials: 'omit' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new CallFailure({ status: 0, code: 'NO_ANSWER', message: 'The service does not answer.' });
  }
}
