import type { SteppedClock } from '../../runtime/stepped-clock.ts';
import type { SessionAddress, SessionEvent, SessionListener } from './session-host.ts';

/**
 * Tells a listener what sessions report, all of it in its order and together with what is reported within the same step of the
 * clock: no caller waits for a single word, and a shop's turn that follows another's costs a fraction of one that wakes the
 * process. After a pause the next word is told at the end of the turn of the event loop that it came in.
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
