import type { SteppedClock } from '../../runtime/stepped-clock.ts';
import type { SessionAddress, SessionEvent, SessionListener } from './session-host.ts';

/**
 * Reports the events of sessions to a listener in order. All events of one step of the clock are reported together, so
 * the second of two turns costs a fraction of one that wakes the process. After a pause the next event is reported at
 * the end of the event loop's turn that it came in.
 */
export function gatheredEvents(steppedClock: SteppedClock, listener: SessionListener): SessionListener {
  let waiting: { readonly shop: SessionAddress; readonly event: SessionEvent }[] = [];
  let toldMs = 0;
  const tellAll = (): void => {
    const told = waiting;
    waiting = [];
    toldMs = steppedClock.monotonicMs();
    for (const { shop, event } of told) listener(shop, event);
  };
  return (shop, event) => {
    waiting.push({ shop, event });
    if (waiting.length === 1) steppedClock.afterPause(toldMs, tellAll);
  };
}
