import type { OperatorEventFeed } from '../operator-events/operator-event.ts';
import type { Metrics } from './metrics.ts';

/** Upper bounds in seconds: from a simulator's milliseconds over the pauses between two sends up to a day in the queue. */
const BUCKETS_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400];

/**
 * Registers the time of each message from acceptance to the network's acknowledgement, from the feed's future events.
 */
export function exportMessageLatency(feed: OperatorEventFeed, metrics: Metrics): void {
  const observe = metrics.histogram({
    name: 'msgapi_message_sent_seconds',
    help: 'From accepting a message until the chat network acknowledged it, pauses between sends included',
    buckets: BUCKETS_SECONDS,
  });
  feed.subscribe(({ type, data }) => {
    if (type === 'message' && data.status === 'sent' && data.ageMs !== null) observe(data.ageMs / 1_000);
  });
}
