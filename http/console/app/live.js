// @ts-check
/** Server-sent events over fetch, since EventSource cannot send the token in a header. */
import { useEffect, useState } from '/console/preact.js';
import { onSignOut, openEvents, token } from './session.js';

/** The service sends a heartbeat every five seconds. After this time without one, the connection counts as lost. */
const SILENCE_MS = 12_000;
const RETRY_MS = 1_500;
const KEPT_EVENTS = 200;

/**
 * @import { OperatorEvent } from '../../operator-events/operator-event.ts'
 * @typedef {{ [Type in OperatorEvent['type']]: { type: Type, at: string } & Extract<OperatorEvent, { type: Type }>['data'] }[OperatorEvent['type']]} LiveEvent an event of the stream
 * @typedef {{ state: 'connecting' | 'open' | 'lost', sinceMs: number }} Connection
 */

/** @type {Connection} */
let connection = { state: 'connecting', sinceMs: Date.now() };
/** @type {LiveEvent[]} */
let recent = [];
/** @type {Set<() => void>} */
const connectionListeners = new Set();
/** @type {Set<(event: LiveEvent) => void>} */
const eventListeners = new Set();
/** @type {Set<string>} nodes whose events are missing */
let silentNodes = new Set();
let lastEventId = '';
let isRunning = false;

/** Opens the stream. It ends when the operator signs out. */
export async function listen() {
  if (isRunning) return;
  isRunning = true;
  while (token() !== '') {
    const attempt = new AbortController();
    const signedOut = onSignOut(() => attempt.abort());
    try {
      await readAll(await openEvents({ lastEventId, signal: attempt.signal }), attempt);
    } catch {
      // Whatever the cause is, the next attempt follows.
    }
    signedOut();
    attempt.abort();
    setState('lost');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  isRunning = false;
  recent = [];
  setState('connecting');
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {AbortController} attempt
 */
async function readAll(body, attempt) {
  setState('open');
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const silence = setTimeout(() => attempt.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) take(block);
  }
}

/** @param {string} block one event: lines of `field: value` */
function take(block) {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  lastEventId = fields.get('id') ?? lastEventId;
  const data = fields.get('data');
  if (data === undefined) return;
  const event = /** @type {LiveEvent} */ (JSON.parse(data));
  if (event.type === 'node') noteNode(event);
  recent = [event, ...recent].slice(0, KEPT_EVENTS);
  for (const listener of eventListeners) listener(event);
}

/** @param {Extract<LiveEvent, { type: 'node' }>} event */
function noteNode({ nodeId, standing }) {
  silentNodes = new Set(silentNodes);
  if (standing === 'silent') silentNodes.add(nodeId);
  else silentNodes.delete(nodeId);
  for (const listener of connectionListeners) listener();
}

/** @param {Connection['state']} state */
function setState(state) {
  if (connection.state === state) return;
  // Each new stream starts with the silent nodes.
  silentNodes = new Set();
  connection = { state, sinceMs: Date.now() };
  for (const listener of connectionListeners) listener();
}

/** @returns {Connection & { silentNodes: ReadonlySet<string> }} */
export function useConnection() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    connectionListeners.add(listener);
    return () => void connectionListeners.delete(listener);
  }, []);
  return { ...connection, silentNodes };
}

/**
 * Calls back for every event from now on.
 * @param {(event: LiveEvent) => void} listener
 * @param {unknown[]} inputs as for an effect
 */
export function useEvents(listener, inputs) {
  useEffect(() => {
    eventListeners.add(listener);
    return () => void eventListeners.delete(listener);
  }, inputs);
}

/**
 * The newest events, newest first.
 * @returns {readonly LiveEvent[]}
 */
export function useRecentEvents() {
  const [events, show] = useState(recent);
  useEvents(() => show(recent), []);
  return events;
}
