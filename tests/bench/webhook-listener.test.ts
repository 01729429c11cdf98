import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BroughtEvent, startWebhookListener } from '../../bench/harness/webhook-listener.ts';

test('an event that comes again is passed on once, and one of another tenant with its id too', async (context) => {
  const events: BroughtEvent[] = [];
  const listener = await startWebhookListener((event) => events.push(event));
  context.after(() => listener.close());
  const bring = async (tenant: string, text: string): Promise<void> => {
    const body = JSON.stringify({ id: '1-1', type: 'message.received', data: { text } });
    const { status } = await fetch(`${listener.url}${tenant}`, { method: 'POST', body });
    assert.equal(status, 204);
  };
  await bring('one', 'Hello');
  await bring('one', 'Hello');
  await bring('two', 'Good day');
  assert.deepEqual(
    events.map(({ data }) => data.text),
    ['Hello', 'Good day'],
  );
  assert.deepEqual(listener.counts(), { events: 2, repeats: 1 });
});
