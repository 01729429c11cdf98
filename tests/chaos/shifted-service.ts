/**
 * The service on a machine whose clock a test sets, like service/service.ts. Between one SIGUSR2 and the next the clock
 * is 5 hours ahead. SIGPWR sets it an hour ahead, and each SIGWINCH a second back, both together with the clock of
 * Redis. From the start both are ahead by the milliseconds of its first argument.
 */

import { HOUR_MS } from '../../runtime/durations.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';

const SHIFT_MS = 5 * HOUR_MS;
const nowMs = Date.now.bind(Date);
const { timeMs } = RedisEngine.prototype;
let shiftMs = 0;
let shiftOfAllMs = Number(process.argv[2] ?? 0);
Date.now = () => nowMs() + shiftMs + shiftOfAllMs;
RedisEngine.prototype.timeMs = async function (this: RedisEngine) {
  return (await timeMs.call(this)) + shiftOfAllMs;
};
process.on('SIGUSR2', () => {
  shiftMs = SHIFT_MS - shiftMs;
});
process.on('SIGPWR', () => {
  shiftOfAllMs += HOUR_MS;
});
process.on('SIGWINCH', () => {
  shiftOfAllMs -= 1_000;
});
await import('../../service/service.ts');
