import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { OpeningQueue } from '../../../../actors/sessions/worker-thread/connection/opening-queue.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { listening } from '../../../testbed/listening.ts';
import { newShop } from '../conformance-network.ts';
import { simulatedNetwork } from '../paired-shop.ts';

/** Returns a queue on a thread that is as busy as the test sets it. */
function queueOf(people: number) {
  const clock = new FakeClock();
  const thread = { busyShare: 1 };
  const queue = new OpeningQueue(clock, () => thread.busyShare);
  const everybody = Array.from({ length: people }, (_, index) => ({ index }));
  const begun: number[] = [];
  for (const session of everybody) queue.enter(session, () => begun.push(session.index));
  const leave = (index: number): void => queue.leave(everybody[index] as object);
  return { clock, thread, queue, begun, leave };
}

test('on a busy thread eight open at a time, the next one when one of them is open', async () => {
  const { clock, begun, leave } = queueOf(20);
  await clock.advance(10_000);
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5, 6, 7]);
  leave(3);
  leave(3);
  assert.deepEqual(begun.slice(8), [8]);
});

test('while the thread is idle enough more sessions begin, up to 64, and on a busy thread fewer', async () => {
  const { clock, thread, begun, leave } = queueOf(200);
  thread.busyShare = 0.49;
  await clock.advance(25);
  assert.equal(begun.length, 12);
  await clock.advance(25);
  assert.equal(begun.length, 16);
  await clock.advance(10_000);
  assert.equal(begun.length, 64);
  leave(0);
  await clock.advance(25);
  assert.equal(begun.length, 65);
  thread.busyShare = 0.5;
  for (let index = 1; index <= 56; index += 1) leave(index);
  await clock.advance(10_000);
  assert.equal(begun.length, 65, 'eight are under way');
  leave(57);
  assert.equal(begun.length, 66);
});

test('a session that ended while waiting never begins, and none does once the queue is cleared', async () => {
  const { clock, thread, queue, begun, leave } = queueOf(20);
  leave(8);
  leave(0);
  assert.deepEqual(begun.slice(8), [9]);
  queue.clear();
  thread.busyShare = 0;
  leave(1);
  await clock.advance(10_000);
  assert.equal(begun.length, 9);
});

test('after the queue was empty the thread is measured again, and its earlier work does not count', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const queue = new OpeningQueue(clock, () => {
    asked.push(clock.monotonicMs());
    return 1;
  });
  const enter = (count: number): void => {
    for (let index = 0; index < count; index += 1) queue.enter({}, () => undefined);
  };
  enter(9);
  queue.clear();
  await clock.advance(100_000);
  asked.length = 0;
  enter(1);
  assert.deepEqual(asked, [clock.monotonicMs()]);
  await clock.advance(25);
  assert.equal(asked.length, 2);
});

test('sessions do not wait for earlier sessions whose answers are late', async (context) => {
  const CALLERS = 24;
  const network = await simulatedNetwork(context);
  const { port } = new URL(network.simulator.chatUrl);
  const callers = new Set<Socket>();
  // The answers come only after all calls, like those of a slow network.
  const relay = createServer({ pauseOnConnect: true }, (caller) => {
    callers.add(caller);
    caller.on('error', () => undefined).on('close', () => callers.delete(caller));
    if (callers.size < CALLERS) return;
    for (const socket of callers) {
      const onward = connect(Number(port), '127.0.0.1');
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    }
  });
  context.after(() => {
    for (const caller of callers) caller.destroy();
    relay.close();
  });
  const slow = await network.another({
    socketUrl: network.simulator.chatUrl.replace(port, String(await listening(relay))),
  });
  const shops = Array.from({ length: CALLERS }, () => newShop());
  const codes = shops.map((shop) => slow.log.next(shop, 'session.qr'));
  for (const shop of shops) slow.host.open(shop, { generation: 1 });
  await Promise.all(codes);
});
