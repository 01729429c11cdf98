import { MESSAGE_REASONS } from '../../actors/message-status.ts';
import type { OperatorEventFeed } from '../operator-events/operator-event.ts';
import { onMessageEnd } from './message-ends.ts';
import type { Metrics } from './metrics.ts';

/** Upper bounds in seconds of the time to `sent`: from a simulator's milliseconds up to a day in the queue. */
const SENT_BUCKETS_SECONDS = [
  0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400,
];

/** The final states of messages: status and reason. */
const ENDS = [
  { status: 'sent', reason: '' },
  ...Object.entries(MESSAGE_REASONS).map(([reason, status]) => ({ status, reason })),
];

/** Registers the metrics of messages that reached their end and of queues that were paused, counted from the feed. */
export function exportMessages(metrics: Metrics, feed: OperatorEventFeed): void {
  const countSettled = metrics.counted(
    'msgapi_messages_settled_total',
    'Messages that reached their end, by status and reason',
    ENDS,
  );
  const observeSent = metrics.histogram({
    name: 'msgapi_message_sent_seconds',
    help: 'From accepting a message until the chat network acknowledged it, pauses between sends included',
    bounds: SENT_BUCKETS_SECONDS,
  });
  const countPaused = metrics.counted(
    'msgapi_queue_pauses_total',
    'Times a queue was paused, by cause',
    ['operator', 'rate_signal'].map((cause) => ({ cause })),
  );
  onMessageEnd(feed, ({ status, reason, ageMs }) => {
    countSettled({ status, reason: reason ?? '' });
    if (status === 'sent') observeSent(ageMs / 1_000);
  });
  feed.subscribe(({ type, data }) => {
    if (type === 'pacing' && data.began !== null) countPaused({ cause: data.began });
  });
}
