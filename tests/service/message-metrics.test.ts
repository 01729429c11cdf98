/** Messages that ended, as Prometheus reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActorEventData, ActorEventFeed } from '../../actors/actor-event-feed.ts';
import { createMetrics } from '../../http/metrics/metrics.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { exportMessages } from '../../service/message-metrics.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const message: ActorEventData['message'] = {
  tenantId: 't',
  shopId: 's',
  shop: 'Bakery',
  messageId: 'm',
  status: 'sent',
  reason: null,
  ageMs: 12_000,
};

test('a sent message counts once, at its own shop; one that waits or fails does not', async () => {
  const metrics = createMetrics();
  const feed = new ActorEventFeed(new FakeClock());
  exportMessages(metrics, feed);
  feed.publish('message', { ...message, status: 'queued', ageMs: 0 });
  feed.publish('message', message);
  feed.publish('message', { ...message, status: 'failed', reason: 'EXPIRED', ageMs: DAY_MS });
  // The pool shop that carried it reports it too.
  feed.publish('message', { ...message, ageMs: null });
  const text = await metrics.text();
  assert.match(text, /^msgapi_message_sent_seconds_bucket\{le="10"\} 0$/m);
  assert.match(text, /^msgapi_message_sent_seconds_bucket\{le="20"\} 1$/m);
  assert.match(text, /^msgapi_message_sent_seconds_sum 12$/m);
  assert.match(text, /^msgapi_message_sent_seconds_count 1$/m);
});
