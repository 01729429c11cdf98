/** The events of all nodes at one: caught up on, bounded, and honest about a node that is not heard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLog } from '../../../http/operator-events/event-log.ts';
import { FleetEvents } from '../../../http/operator-events/fleet-events.ts';
import type { OperatorEvent } from '../../../http/operator-events/operator-event.ts';
import type { NodeRequest } from '../../../http/owner/forwarded-form.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

/** Two nodes, of which `ownNode` asks `otherNode`. */
function twoNodes() {
  const clock = new FakeClock();
  const others = new Set(['there']);
  let calls = 0;
  let line: 'up' | 'cut' | 'hanging' = 'up';
  const node = (epoch: string) => {
    const listeners = new Set<(event: OperatorEvent) => void>();
    const events = new FleetEvents({
      clock,
      epoch,
      feed: {
        subscribe(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      forwarder: { otherNodes: () => (epoch === 'here' ? [...others] : []), forwardToNode },
    });
    const emit = (name: string): void => {
      const event: OperatorEvent = {
        type: 'tenant',
        at: new Date(clock.wallMs()).toISOString(),
        data: { tenantId: name },
      };
      for (const listener of listeners) listener(event);
    };
    return { events, emit };
  };
  async function forwardToNode(_nodeId: string, payload: string, timeoutMs: number): Promise<string> {
    calls += 1;
    if (line === 'cut') throw new Error('cut off');
    if (line === 'hanging') {
      await new Promise<void>((resolve) => void clock.after(timeoutMs, resolve));
      throw new Error('no answer in time');
    }
    const { since } = JSON.parse(payload) as Extract<NodeRequest, { kind: 'events' }>;
    return otherNode.events.answer(since);
  }
  const ownNode = node('here');
  const otherNode = node('there');
  const seen: string[] = [];
  ownNode.events.subscribe((event) => {
    if (event.type === 'tenant') seen.push(event.data.tenantId);
    if (event.type === 'node') seen.push(`node ${event.data.standing}`);
    if (event.type === 'missed') seen.push(`missed ${event.data.count}`);
  });
  return {
    clock,
    here: ownNode,
    there: otherNode,
    seen,
    others,
    calls: () => calls,
    turn: (state: typeof line) => {
      line = state;
    },
    watch: () => ownNode.events.watch(clock.wallMs()),
  };
}

test('while there is a watcher, the events of the other nodes come too, each once', async () => {
  const { clock, here, there, seen, calls, watch } = twoNodes();
  there.emit('before');
  await clock.advance(10);
  watch();
  await clock.advance(10);
  there.emit('one');
  here.emit('own');
  await clock.advance(300);
  there.emit('two');
  there.emit('three');
  await clock.advance(1_000);
  assert.deepEqual(seen, ['own', 'one', 'two', 'three']);
  assert.ok(calls() <= 6, `${calls()} calls in 1.3 s`);
});

test('without a watcher no node is polled, and a watcher that returns soon misses nothing', async () => {
  const { clock, there, seen, calls, watch } = twoNodes();
  await clock.advance(5_000);
  assert.equal(calls(), 0);
  const leave = watch();
  await clock.advance(300);
  leave();
  there.emit('while away');
  await clock.advance(10_000);
  watch();
  await clock.advance(300);
  assert.deepEqual(seen, ['while away']);
  await clock.advance(40_000);
  there.emit('long after');
  await clock.advance(300);
  assert.deepEqual(seen, ['while away', 'long after'], 'and it is followed for as long as it watches');
});

test('no node is polled from half a minute after the last watcher left', async () => {
  const { clock, calls, watch } = twoNodes();
  watch()();
  await clock.advance(29_990);
  const before = calls();
  await clock.advance(60_000);
  assert.equal(calls(), before);
});

test('a node that hangs delays no other, and its events follow when it answers', async () => {
  const { clock, here, there, seen, turn, watch } = twoNodes();
  watch();
  await clock.advance(300);
  turn('hanging');
  there.emit('unheard');
  here.emit('own');
  await clock.advance(2_500);
  assert.deepEqual(seen, ['own', 'node silent']);
  assert.deepEqual(here.events.silentNodes(), ['there']);
  turn('up');
  await clock.advance(3_500);
  assert.deepEqual(seen.slice(2), ['node heard', 'unheard']);
  assert.deepEqual(here.events.silentNodes(), []);
});

test('a node that does not answer is asked once a second, a node that does four times', async () => {
  const { clock, calls, turn, watch } = twoNodes();
  watch();
  await clock.advance(10_100);
  assert.ok(Math.abs(calls() - 40) < 3, `${calls()}`);
  turn('cut');
  await clock.advance(300);
  const before = calls();
  await clock.advance(10_000);
  assert.equal(calls() - before, 10);
});

test('a node that leaves the fleet is gone, and asked again when it is back', async () => {
  const { clock, there, seen, others, calls, turn, watch } = twoNodes();
  watch();
  await clock.advance(300);
  turn('cut');
  await clock.advance(300);
  others.clear();
  await clock.advance(2_000);
  assert.deepEqual(seen, ['node silent', 'node gone']);
  const before = calls();
  await clock.advance(5_000);
  assert.equal(calls(), before);
  turn('up');
  others.add('there');
  await clock.advance(1_500);
  there.emit('back');
  await clock.advance(300);
  assert.deepEqual(seen.slice(2), ['back']);
});

test('a flood is cut to what an answer may hold, and the rest is counted', async () => {
  const { clock, there, seen, watch } = twoNodes();
  watch();
  await clock.advance(300);
  for (let index = 1; index <= 3_000; index += 1) there.emit(String(index));
  await clock.advance(300);
  assert.equal(seen.length, 251);
  assert.deepEqual([seen[0], seen[249], seen[250]], ['2751', '3000', 'missed 2750']);
});

test('a reader that comes from another node gets each event once', () => {
  const [firstLog, otherLog] = [new EventLog('one'), new EventLog('other')];
  const eventAt = (ms: number): OperatorEvent => ({
    type: 'tenant',
    at: new Date(ms).toISOString(),
    data: { tenantId: String(ms) },
  });
  for (const ms of [1_000, 2_000, 3_000]) firstLog.append(eventAt(ms));
  const { id } = otherLog.logged(otherLog.append(eventAt(2_000)), eventAt(2_000));
  assert.deepEqual(
    firstLog.after(id).events.map(({ event }) => event.at),
    [new Date(3_000).toISOString()],
  );
  assert.deepEqual(firstLog.after('nonsense'), { events: [], missed: 0 });
});

test('a reader that comes from another node learns that later events are gone', () => {
  const log = new EventLog('one');
  for (let ms = 1; ms <= 1_010; ms += 1)
    log.append({ type: 'tenant', at: new Date(ms).toISOString(), data: { tenantId: '' } });
  const missedSince = (ms: number): number => log.after(new EventLog('other').end(ms)).missed;
  assert.deepEqual([missedSince(5), missedSince(9), missedSince(10)], [1, 1, 0]);
});

test('a log keeps its last thousand events', () => {
  const log = new EventLog('one');
  const place = log.end(0);
  for (let index = 0; index < 1_500; index += 1)
    log.append({ type: 'tenant', at: '', data: { tenantId: '' } });
  const { events, missed } = log.after(place, 5_000);
  assert.deepEqual([events.length, missed], [1_000, 500]);
});
