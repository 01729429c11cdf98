import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';

/**
 * Waits that many milliseconds: for how long a fault lasts, until a moment chosen at random, or between repeated calls.
 * A test that waits for something awaits its event, or asks with `until`. A process with nothing else to do ends
 * meanwhile.
 */
export function pause(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}

/**
 * Asks until the answer is there, about the work of another process that sends no event. Asks again as soon as the last
 * answer is in, at most every `everyMs`. Fails with `title` after `withinMs`.
 */
export async function until<Value>(
  title: string,
  ask: () => Promise<Value | undefined | false>,
  options: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<Value> {
  const { withinMs = MINUTE_MS, everyMs = 40 } = options;
  const endMs = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > endMs) throw new Error(`${title} did not happen within ${withinMs} ms`);
    await delay(everyMs);
  }
}

/** Waits until a condition holds. Asks again each millisecond, and fails after `withinMs`. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = MINUTE_MS,
): Promise<void> {
  // Each turn of the event loop would keep a core busy, which the awaited programs need.
  await until('the awaited condition', async () => condition(), { withinMs, everyMs: 1 });
}
