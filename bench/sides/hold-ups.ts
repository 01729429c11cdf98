import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type { HoldUps } from '../harness/running-side.ts';

/** A timer fires every millisecond. Its delay is the time for which the event loop was blocked. */
const RESOLUTION_MS = 1;

/**
 * Returns a function that returns how long this process's event loop was blocked since its last call. The first call
 * starts it.
 */
export function watchHoldUps(): () => HoldUps {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let collectionsMs: number[] = [];
  const collected = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collectionsMs.push(duration);
  });
  return () => {
    const blocked = {
      p99Ms: delays.percentile(99) / 1e6 - RESOLUTION_MS,
      longestMs: delays.max / 1e6 - RESOLUTION_MS,
      collections: collectionsMs.length,
      collectingMs: collectionsMs.reduce((sum, ms) => sum + ms, 0),
      longestCollectionMs: Math.max(0, ...collectionsMs),
    };
    if (delays.enable()) collected.observe({ entryTypes: ['gc'] });
    delays.reset();
    collectionsMs = [];
    return blocked;
  };
}
