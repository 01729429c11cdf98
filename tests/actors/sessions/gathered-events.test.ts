import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatheredEvents } from '../../../actors/sessions/gathered-events.ts';
import type { SessionEvent } from '../../../actors/sessions/session-events.ts';
import { SteppedClock } from '../../../runtime/stepped-clock.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

const shop = (shopId: string) => ({ shard: 0, tenantId: 't', shopId });
const prepared = (messageId: string): SessionEvent => ({
  type: 'session.prepared',
  generation: 1,
  messageId,
  writes: [],
});

/** Returns a fake clock and a report by that clock. The listener of the report itself reports something once. */
function world() {
  const clock = new FakeClock();
  const steppedClock = new SteppedClock(clock, 5, (act) => void clock.after(0, act));
  const told: string[] = [];
  const report = gatheredEvents(steppedClock, ({ shopId }, event) => {
    told.push(`${shopId} ${'messageId' in event ? event.messageId : ''}`);
    if (told.length === 1) report(shop('a'), prepared('later'));
  });
  return { clock, told, report };
}

test('reports after a pause are published at the end of the tick, never from within the report', async () => {
  const { clock, told, report } = world();
  await clock.advance(1);
  report(shop('a'), prepared('1'));
  report(shop('b'), prepared('2'));
  assert.deepEqual(told, []);
  await clock.advance(0);
  assert.deepEqual(told, ['a 1', 'b 2']);
});

test('reports soon after another are published together at the end of the step, in order', async () => {
  const { clock, told, report } = world();
  await clock.advance(1);
  report(shop('a'), prepared('1'));
  await clock.advance(1);
  report(shop('b'), prepared('2'));
  await clock.advance(1);
  report(shop('a'), prepared('3'));
  assert.deepEqual(told, ['a 1']);
  await clock.advance(2);
  assert.deepEqual(told.slice(1), ['a later', 'b 2', 'a 3']);
});
