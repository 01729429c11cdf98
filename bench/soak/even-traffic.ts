import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';

/** Events that happen at an even rate, given per minute. */
export interface Traffic {
  readonly perMinute: number;
  /** The event with this number. `dueMs` is its moment by `performance.now()`. The next waits for it. */
  readonly act: (turn: number, dueMs: number) => unknown;
}

/** Lets the traffic flow for a minute. Rejects at its end if a part failed, because it would measure something else. */
export async function minuteOf(traffic: readonly Traffic[], minute: number): Promise<void> {
  const startedMs = performance.now();
  const flows = traffic.map(async ({ perMinute, act }) => {
    for (let index = 0; index < perMinute; index += 1) {
      const dueMs = startedMs + (index * MINUTE_MS) / perMinute;
      await delay(dueMs - performance.now());
      await act(minute * perMinute + index, dueMs);
    }
  });
  await Promise.all(flows);
  await delay(startedMs + 60_000 - performance.now());
}
