import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { RunningSide } from './running-side.ts';

const WITHIN_MS = MINUTE_MS;
const LOOK_MS = 200;

/**
 * Waits until a number of shops, by default all, have their session again. Resolves with the time of each, by the wall
 * clock.
 */
export async function sessionsBack(
  { look, fleet }: Pick<RunningSide, 'look' | 'fleet'>,
  count = fleet.shops.length,
): Promise<readonly number[]> {
  const untilMs = performance.now() + WITHIN_MS;
  for (;;) {
    const { connectedAtMs } = await look();
    if (connectedAtMs.length >= count) return connectedAtMs;
    if (performance.now() > untilMs) throw new Error(`only ${connectedAtMs.length} sessions came back`);
    await delay(LOOK_MS);
  }
}
