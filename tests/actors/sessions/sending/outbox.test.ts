/** The orders of one session, on a client that the test drives, with a fake clock. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { OrderGivenUp } from '../../../../actors/sessions/worker-thread/sending/order-outcomes.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';

import { asked, cut, DEVICE, ORDER, scriptedOutbox } from './scripted-outbox.ts';

test('a message goes out once its recipient has devices, and is settled by the network alone', async () => {
  const { box, clock, devices, relayed, outcomes } = scriptedOutbox();
  box.prepare(asked());
  await clock.until(() => devices.length === 1);
  assert.deepEqual(relayed, []);
  devices[0]?.([DEVICE]);
  await clock.until(() => relayed.length === 1);
  assert.deepEqual(outcomes, []);
  box.onAcknowledged({ id: ORDER.wireId });
  assert.deepEqual(outcomes, ['acknowledged']);
});

for (const isStopped of [false, true]) {
  test(`a message is ${isStopped ? 'not ' : ''}kept for the next connection${isStopped ? ' if STOP came on its own' : ''}`, async () => {
    const { box, memory, outcomes, relay } = scriptedOutbox();
    await relay();
    if (isStopped) box.doNotRepeat(ORDER.messageId);
    box.onClosed({ comesBack: true });
    assert.deepEqual(
      [memory.unacknowledged.isKept(ORDER.wireId), outcomes],
      isStopped ? [false, ['unknown']] : [true, []],
    );
  });
}

test('a message that a phone reported is acknowledged when its connection is lost, and not kept for the next one', async () => {
  const { box, memory, outcomes, received, relay } = scriptedOutbox();
  await relay();
  received.add(ORDER.wireId);
  box.onClosed({ comesBack: true });
  assert.deepEqual([memory.unacknowledged.isKept(ORDER.wireId), outcomes], [false, ['acknowledged']]);
});

for (const isReceived of [true, false]) {
  const outcome = isReceived ? 'acknowledged' : 'unknown';
  test(`a message is ${outcome} if ${isReceived ? 'a' : 'no'} phone reported it and the acknowledgement never came`, async () => {
    const { clock, outcomes, doubts, received, relay } = scriptedOutbox();
    await relay();
    if (isReceived) received.add(ORDER.wireId);
    await clock.advance(ORDER.deadlineMs - 1_000);
    assert.deepEqual(outcomes, [], 'the acknowledgement may still come');
    await clock.advance(1_000);
    assert.deepEqual([outcomes, doubts], [[outcome], ['is anybody there?']]);
  });
}

test('a message whose address is no longer the recipient’s fails if the network names no other', async () => {
  const { box, clock, relayed, outcomes, relay } = scriptedOutbox();
  await relay();
  box.onAcknowledged({ id: ORDER.wireId, refresh_lid: 'true' });
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, relayed], [['refused'], [ORDER.wireId]]);
});

for (const { code, outcome } of [
  { code: 500, outcome: 'refused' },
  { code: 429, outcome: 'rate_limited' },
] as const) {
  test(`a message that reached no one ends as ${outcome} if the new address is refused with ${code}`, async () => {
    const { box, clock, relayed, outcomes, relay } = scriptedOutbox({
      lookUp: () => Promise.reject(Object.assign(new Error('refused'), { data: code })),
    });
    await relay();
    box.onAcknowledged({ id: ORDER.wireId, refresh_lid: 'true' });
    await clock.until(() => outcomes.length === 1);
    assert.deepEqual([outcomes, relayed], [[outcome], [ORDER.wireId]]);
  });
}

/** Returns an outbox with a post that reached no one. Its devices are asked for again. */
async function refusedPost(script: Parameters<typeof scriptedOutbox>[0]) {
  const outbox = scriptedOutbox(script);
  const { box, clock, devices, relay } = outbox;
  await relay({ to: '120363000000000001@g.us' });
  box.transmit(ORDER.messageId);
  await clock.until(() => outbox.handedOn() === 1);
  box.onAcknowledged({ id: ORDER.wireId, error: '421' });
  await clock.until(() => devices.length === 2);
  return outbox;
}

test('a post that reached no one ends as refused if a STOP comes before it is sealed again', async () => {
  const { box, clock, devices, outcomes, prepared, handedOn } = await refusedPost({ held: true });
  devices[1]?.([DEVICE]);
  await clock.until(() => prepared.length === 2);
  box.transmit(ORDER.messageId);
  box.doNotRepeat(ORDER.messageId);
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, handedOn()], [['refused'], 1]);
});

test('a post that reached no one ends as unknown if it fails after it was sealed again', async () => {
  let writes = 0;
  const write = async (): Promise<void> => {
    writes += 1;
    if (writes === 2) throw cut;
  };
  const { clock, devices, outcomes } = await refusedPost({ write });
  devices[1]?.([DEVICE]);
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, writes], [['unknown'], 2]);
});

for (const isStopped of [false, true]) {
  test(`a post that reached no one is sent once more ${isStopped ? 'only if the actor allows it' : 'when the actor allows it'}`, async () => {
    const { box, clock, devices, relayed, outcomes, prepared, relay } = scriptedOutbox();
    await relay({ to: '120363000000000001@g.us' });
    if (isStopped) box.doNotRepeat(ORDER.messageId);
    box.onAcknowledged({ id: ORDER.wireId, error: '421' });
    await clock.until(() => devices.length === 2);
    devices[1]?.([DEVICE]);
    await clock.until(() => (isStopped ? outcomes.length === 1 : relayed.length === 2));
    if (!isStopped) box.onAcknowledged({ id: ORDER.wireId });
    assert.deepEqual(
      [outcomes, relayed.length, prepared.length],
      isStopped ? [['refused'], 1, 1] : [['acknowledged'], 2, 2],
    );
  });
}

test('a post to a group is accepted if the network adds that one of its addresses is no longer valid', async () => {
  const { box, clock, relayed, outcomes, relay } = scriptedOutbox();
  await relay({ to: '120363000000000001@g.us' });
  box.onAcknowledged({ id: ORDER.wireId, refresh_lid: 'true' });
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, relayed], [['acknowledged'], [ORDER.wireId]]);
});

test("a post to a group that may have been lost with its socket brings the group's key again the next time", async () => {
  const { box, clock, outcomes, stored, relay } = scriptedOutbox();
  const to = '120363000000000001@g.us';
  await relay({ to });
  await clock.advance(1);
  assert.deepEqual(stored, []);
  box.onClosed({ comesBack: false });
  // It is in the queue of writes before the session ends.
  assert.deepEqual([outcomes, stored], [['unknown'], [{ 'sender-key-memory': { [to]: null } }]]);
});

for (const answer of ['devices', 'no devices', 'a failure'] as const) {
  test(`an order that was given up and given again is sent once, at any end of the first attempt: ${answer}`, async () => {
    const { box, clock, devices, relayed, outcomes } = scriptedOutbox();
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    await clock.advance(ORDER.deadlineMs);
    assert.deepEqual(outcomes, ['unprepared']);
    box.prepare(asked());
    await clock.until(() => devices.length === 2);
    const found = answer === 'devices' ? [DEVICE] : [];
    devices[0]?.(answer === 'a failure' ? new Error('timed out') : found);
    await clock.advance(1_000);
    assert.deepEqual([relayed, outcomes], [[], ['unprepared']], 'the first try has no say any more');
    devices[1]?.([DEVICE]);
    await clock.until(() => relayed.length === 1);
    box.onAcknowledged({ id: ORDER.wireId });
    assert.deepEqual(outcomes, ['unprepared', 'acknowledged']);
  });
}

test('a socket that ends before a ciphertext was made does not fail the message, for any report of the client', async () => {
  for (const told of ['the session', 'the question'] as const) {
    const { box, clock, devices, outcomes } = scriptedOutbox();
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    if (told === 'the session') box.onClosed({ comesBack: false });
    else devices[0]?.(cut);
    await clock.until(() => outcomes.length === 1);
    assert.deepEqual(outcomes, ['not_sent']);
  }
});

test('if the socket closes before an upload ends, the outcome is not_sent', async (context) => {
  const files = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'image/png' }).end('PNG'));
  const port = await listening(files);
  context.after(() => files.close());
  const { box, clock, outcomes } = scriptedOutbox();
  const mediaUrl = `http://127.0.0.1:${port}/picture.png`;
  box.prepare(asked({ mediaUrl, mediaType: 'image' }));
  await until('the message has its outcome', async () => {
    await clock.advance(0);
    return outcomes.length === 1;
  });
  assert.deepEqual(outcomes, ['not_sent']);
});

test('a recipient without devices may be a server that does not answer: the try counts, and the connection is checked', async () => {
  const { box, clock, devices, outcomes, doubts } = scriptedOutbox();
  box.prepare(asked());
  await clock.until(() => devices.length === 1);
  devices[0]?.([]);
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, doubts], [['unprepared'], ['is anybody there?']]);
});

test('a stanza that addressed no device has used the id of its message, which is not tried again', async () => {
  const { box, clock, devices, outcomes, prepared } = scriptedOutbox({ addressesNoOne: true });
  box.prepare(asked());
  await clock.until(() => devices.length === 1);
  devices[0]?.([DEVICE]);
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, prepared], [['unknown'], []]);
});

test('a defect in making a message is the outcome unprepared, and is logged once without text, numbers and keys', async () => {
  const timerOf = (to: string): never => {
    throw new TypeError(`no timer for ${to}, key ${'aB3/'.repeat(11)}: ${ORDER.text} is not "iterable"`);
  };
  const { box, clock, outcomes, logged } = scriptedOutbox({ timerOf });
  box.prepare(asked());
  await clock.until(() => outcomes.length === 1);
  const [line] = logged as [{ readonly stack: string }];
  assert.deepEqual(
    [outcomes, logged],
    [
      ['unprepared'],
      [
        {
          messageId: ORDER.messageId,
          error: 'TypeError',
          cause: '',
          stack: line.stack,
          message: 'a send failed by a defect',
        },
      ],
    ],
  );
  assert.match(line.stack, /^ {4}at [^\n]*outbox\.test\.[jt]s:[^\n]*\n {4}at [^\n]*make-message\.[jt]s/);
});

test('a defect in a look-up is logged, and the message waits as before', async () => {
  const lookUp = () => Promise.reject(new TypeError('no row of 33622229999'));
  const { box, clock, outcomes, logged } = scriptedOutbox({ lookUp });
  box.prepare(asked({ to: '+33622229999' }));
  await clock.until(() => outcomes.length === 1);
  const [{ messageId, cause }] = logged as [{ readonly messageId: string; readonly cause: string }];
  assert.deepEqual([outcomes, logged.length, messageId, cause], [['not_sent'], 1, ORDER.messageId, '']);
});

test('a defect in sending a message once more is logged, and an error that gives a reason is not', async () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  const sockets = ['EPIPE', 'ECONNRESET', 'ETIMEDOUT', 'WS_ERR_INVALID_OPCODE'].map(coded);
  const reasons = [cut, new OrderGivenUp(), 1006, ...sockets];
  const defects = [new Error('?'), coded('ENOENT'), coded('ENOSPC'), coded('ERR_INVALID_ARG_TYPE')];
  const cases = [...reasons.map((each) => [each, 0] as const), ...defects.map((each) => [each, 1] as const)];
  for (const [error, lines] of cases) {
    const { box, clock, devices, outcomes, logged, relay } = scriptedOutbox();
    await relay({ to: '120363000000000001@g.us' });
    box.onAcknowledged({ id: ORDER.wireId, error: '421' });
    await clock.until(() => devices.length === 2);
    devices[1]?.(error);
    await clock.until(() => outcomes.length === 1);
    assert.deepEqual([outcomes, logged.length], [['refused'], lines], String(error));
  }
});

test('a message over which the client hangs counts as tried, though its session ends with it', async () => {
  const { clock, outcomes, doubts, relay } = scriptedOutbox({ hangs: true });
  await relay();
  await clock.advance(ORDER.deadlineMs);
  assert.deepEqual([outcomes, doubts], [['unprepared'], ['stalled']]);
});

test('a prepared message waits for its release; if it is given again, or recalled, its ciphertexts are never sent', async () => {
  for (const end of ['released', 'recalled', 'given once more'] as const) {
    const { box, clock, devices, outcomes, prepared, handedOn } = scriptedOutbox({ held: true });
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    devices[0]?.([DEVICE]);
    await clock.until(() => prepared.length === 1);
    assert.deepEqual([handedOn(), outcomes], [0, []]);
    if (end === 'released') {
      box.transmit(ORDER.messageId);
      await clock.until(() => handedOn() === 1);
      box.recall(ORDER.messageId);
      box.prepare(asked());
      assert.deepEqual([outcomes, devices.length], [[], 1], 'it may have left');
      continue;
    }
    if (end === 'recalled') {
      box.recall(ORDER.messageId);
    } else {
      box.prepare(asked());
      await clock.until(() => devices.length === 2);
      devices[1]?.([DEVICE]);
      await clock.until(() => prepared.length === 2);
    }
    box.transmit(end === 'recalled' ? ORDER.messageId : 'another');
    await clock.advance(1);
    assert.deepEqual([handedOn(), outcomes], [0, []]);
  }
});

test('the session’s own work that does not end ends the session, since all orders wait for it', async () => {
  const { box, clock, doubts } = scriptedOutbox();
  void box.alone(() => new Promise(() => undefined));
  box.alone(async () => undefined).catch(() => undefined);
  await clock.advance(60_000);
  assert.equal(doubts.filter((doubt) => doubt === 'stalled').length, 1);
});

test('the end of a session’s own tasks does not end the session', async () => {
  const { box, clock, doubts } = scriptedOutbox();
  await box.alone(async () => undefined);
  await assert.rejects(box.alone(() => Promise.reject(new Error('no keys'))));
  await clock.advance(120_000);
  assert.deepEqual(doubts, []);
});
