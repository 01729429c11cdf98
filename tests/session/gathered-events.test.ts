import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatheredEvents } from '../../actors/session/gathered-events.ts';
import type { SessionEvent } from '../../actors/session/session-host.ts';
import { SteppedClock } from '../../runtime/stepped-clock.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const shop = (shopId: string) => ({ shard: 0, tenantId: 't', shopId });
const composed = (messageId: string): SessionEvent => ({
  type: 'session.composed',
  generation: 1,
  messageId,
});

test('what sessions report is told together at the end of a step, in its order, and never from within the report', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const report = gatheredEvents(new SteppedClock(clock, 5), ({ shopId }, event) => {
    told.push(`${shopId} ${'messageId' in event ? event.messageId : ''}`);
    if (told.length === 1) report(shop('a'), composed('later'));
  });
  // Right behind the end of a step.
  await clock.advance(1);
  report(shop('a'), composed('1'));
  await clock.advance(2);
  report(shop('b'), composed('2'));
  report(shop('a'), composed('3'));
  assert.deepEqual(told, []);
  await clock.advance(2);
  assert.deepEqual(told.slice(0, 3), ['a 1', 'b 2', 'a 3']);
  await clock.advance(5);
  assert.deepEqual(told.slice(3), ['a later']);
});
