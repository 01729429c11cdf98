/**
 * Loaded before everything else in each thread of a service: its wall clock is ahead by as many milliseconds as the file
 * says that `?path=` names. SIGPWR has the main thread read the file again and say it to the others.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const path = new URL(import.meta.url).searchParams.get('path');
const nowMs = Date.now.bind(Date);
let aheadMs = Number(readFileSync(path, 'utf8'));
Date.now = () => nowMs() + aheadMs;

const others = new BroadcastChannel('moved-clock');
others.unref();
others.onmessage = ({ data }) => {
  aheadMs = data;
};
if (isMainThread) {
  process.on('SIGPWR', () => {
    aheadMs = Number(readFileSync(path, 'utf8'));
    others.postMessage(aheadMs);
  });
}
