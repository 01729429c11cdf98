import type { Clock } from '../../runtime/clock.ts';
import type { SessionAddress, SessionEvent, SessionListener } from './session-host.ts';

/**
 * Tells a listener what sessions report a step of the clock later, all of it together and in its order. No caller waits for a
 * single word, and a shop's turn that follows another's costs a fraction of one that wakes the process.
 */
export function gatheredEvents(steppedClock: Clock, listener: SessionListener): SessionListener {
  let waiting: { readonly shop: SessionAddress; readonly event: SessionEvent }[] = [];
  const tellAll = (): void => {
    const told = waiting;
    waiting = [];
    for (const { shop, event } of told) listener(shop, event);
  };
  return (shop, event) => {
    waiting.push({ shop, event });
    if (waiting.length === 1) steppedClock.after(0, tellAll);
  };
}
