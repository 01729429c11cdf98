import type { SteppedClock } from '../../runtime/stepped-clock.ts';
import type { SessionEvent } from './session-events.ts';
import type { SessionAddress, SessionListener } from './session-host.ts';

/**
 * Reports the events of sessions to a listener in order. All events of one step of the clock are reported together. A
 * second turn then costs a fraction of the first one after a wait. After a pause the next event is reported at the end
 * of its tick of the event loop.
 */
export function gatheredEvents(steppedClock: SteppedClock, listener: SessionListener): SessionListener {
  let waitingEvents: { readonly shop: SessionAddress; readonly event: SessionEvent }[] = [];
  let reportedMs = 0;
  const reportAll = (): void => {
    const events = waitingEvents;
    waitingEvents = [];
    reportedMs = steppedClock.monotonicMs();
    for (const { shop, event } of events) listener(shop, event);
  };
  return (shop, event) => {
    waitingEvents.push({ shop, event });
    if (waitingEvents.length === 1) steppedClock.afterPause(reportedMs, reportAll);
  };
}
