/** Messages that ended and queues that were paused, as Prometheus reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActorEventData, ActorEventFeed } from '../../../actors/actor-event-feed.ts';
import { exportMessages } from '../../../http/metrics/message-metrics.ts';
import { makeMetrics } from '../../../http/metrics/metrics.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

const message: ActorEventData['message'] = {
  tenantId: 't',
  shopId: 's',
  shop: 'Bakery',
  messageId: 'm',
  status: 'sent',
  reason: null,
  ageMs: 12_000,
};

const pacing: ActorEventData['pacing'] = {
  tenantId: 't',
  shopId: 's',
  shop: 'Bakery',
  state: 'paused',
  heldByOperator: false,
  began: 'rate_signal',
};

test('a message that ended counts once, at its own shop; only a sent one has a time to `sent`', async () => {
  const metrics = makeMetrics();
  const feed = new ActorEventFeed(new FakeClock());
  exportMessages(metrics, feed);
  feed.publish('message', { ...message, status: 'queued', ageMs: 0 });
  feed.publish('message', message);
  feed.publish('message', { ...message, status: 'failed', reason: 'EXPIRED', ageMs: DAY_MS });
  // The pool shop that carried it reports it too.
  feed.publish('message', { ...message, ageMs: null });
  const text = await metrics.text();
  assert.match(text, /^msgapi_messages_settled_total\{status="sent",reason=""\} 1$/m);
  assert.match(text, /^msgapi_messages_settled_total\{status="failed",reason="EXPIRED"\} 1$/m);
  assert.match(text, /^msgapi_message_sent_seconds_bucket\{le="10"\} 0$/m);
  assert.match(text, /^msgapi_message_sent_seconds_bucket\{le="20"\} 1$/m);
  assert.match(text, /^msgapi_message_sent_seconds_sum 12$/m);
  assert.match(text, /^msgapi_message_sent_seconds_count 1$/m);
});

test('a pause counts by its cause in the turn that begins it', async () => {
  const metrics = makeMetrics();
  const feed = new ActorEventFeed(new FakeClock());
  exportMessages(metrics, feed);
  feed.publish('pacing', pacing);
  feed.publish('pacing', { ...pacing, began: null });
  const text = await metrics.text();
  assert.deepEqual(text.match(/^msgapi_queue_pauses_total.*$/gm), [
    'msgapi_queue_pauses_total{cause="operator"} 0',
    'msgapi_queue_pauses_total{cause="rate_signal"} 1',
  ]);
});
