/**
 * Loaded before everything else in each thread of a service. Its wall clock is ahead by the number of milliseconds in
 * the file that `?path=` names. SIGPWR makes the main thread read that file, and tell the other threads. A timer of
 * some minutes or more that is due by then fires at once. Shorter ones are about connections, which need real time.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const path = new URL(import.meta.url).searchParams.get('path');
const nowMs = Date.now.bind(Date);
let aheadMs = Number(readFileSync(path, 'utf8'));
Date.now = () => nowMs() + aheadMs;

const LONG_MS = 6 * 60_000;
const { setTimeout: arm, clearTimeout: disarm } = globalThis;
/** The long timers that wait, with the moved time at which each is due. */
const waiting = new Map();

globalThis.setTimeout = Object.assign((act, delayMs, ...rest) => {
  if (!(delayMs >= LONG_MS)) return arm(act, delayMs, ...rest);
  const fire = () => {
    waiting.delete(timer);
    act(...rest);
  };
  const timer = arm(fire, delayMs);
  waiting.set(timer, { dueAtMs: Date.now() + delayMs, fire });
  return timer;
}, arm);
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer);
  disarm(timer);
};

function moveTo(movedMs) {
  aheadMs = movedMs;
  const due = [...waiting].filter(([, { dueAtMs }]) => dueAtMs <= Date.now());
  for (const [timer, { fire }] of due.sort(([, one], [, other]) => one.dueAtMs - other.dueAtMs)) {
    disarm(timer);
    fire();
  }
}

const others = new BroadcastChannel('moved-clock');
others.unref();
others.onmessage = ({ data }) => moveTo(data);
if (isMainThread) {
  process.on('SIGPWR', () => {
    const movedMs = Number(readFileSync(path, 'utf8'));
    others.postMessage(movedMs);
    moveTo(movedMs);
  });
}
