/** A worker has a number of slots for messages. An order without a slot waits. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { FairSlots, type Slot } from '../../../../runtime/fair-slots.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';
import { asked, DEVICE, ORDER, scriptedOutbox } from './scripted-outbox.ts';

/** Returns an outbox whose worker has one slot, which another tenant has taken. */
async function withoutSlot() {
  const sendSlots = new FairSlots({ all: 1, share: 1 });
  const otherSlot = await sendSlots.take('other');
  return { ...scriptedOutbox({ sendSlots }), sendSlots, otherSlot };
}

test('an order without a slot asks for nothing however long it waits, and then has its whole time', async () => {
  const { box, clock, devices, outcomes, relayed, otherSlot } = await withoutSlot();
  box.prepare(asked());
  await clock.advance(10 * MINUTE_MS);
  assert.deepEqual([devices.length, outcomes], [0, []]);
  otherSlot.giveBack();
  await clock.until(() => devices.length === 1);
  await clock.advance(30_000);
  devices[0]?.([DEVICE]);
  await clock.until(() => relayed.length === 1);
  box.onAcknowledged({ id: ORDER.wireId });
  assert.deepEqual(outcomes, ['acknowledged']);
});

test('a message keeps its slot until it ends', async () => {
  const sendSlots = new FairSlots({ all: 1, share: 1 });
  const { box, clock, devices, relay } = scriptedOutbox({ sendSlots });
  await relay();
  box.prepare(asked({ messageId: '65f0000000000000000000bb', wireId: '3EB0BB' }));
  await clock.advance(10_000);
  assert.equal(devices.length, 1);
  box.onAcknowledged({ id: ORDER.wireId });
  await clock.until(() => devices.length === 2);
});

test('an order has no slot while its attachment is fetched', async (context) => {
  const requests: unknown[] = [];
  const files = createServer((request) => void requests.push(request));
  const port = await listening(files);
  context.after(() => files.close());
  const sendSlots = new FairSlots({ all: 1, share: 1 });
  const { box, clock, outcomes } = scriptedOutbox({ sendSlots });
  box.prepare(asked({ mediaUrl: `http://127.0.0.1:${port}/picture.png`, mediaType: 'image' }));
  await until('the attachment is asked for', async () => {
    await clock.advance(0);
    return requests.length === 1;
  });
  const otherSlot = await sendSlots.take('other');
  assert.deepEqual(outcomes, []);
  otherSlot.giveBack();
  box.recall(ORDER.messageId);
});

for (const end of ['sent', 'recalled'] as const) {
  test(`an order whose attachment is uploaded waits for a slot again, and then is ${end}`, async (context) => {
    const files = createServer((_, reply) =>
      reply.writeHead(200, { 'content-type': 'image/png' }).end('PNG'),
    );
    const port = await listening(files);
    context.after(() => files.close());
    const sendSlots = new FairSlots({ all: 1, share: 1 });
    const take = context.mock.method(sendSlots, 'take');
    const otherSlots: Slot[] = [];
    const upload = async () => {
      otherSlots.push(await sendSlots.take('other'));
      return { mediaUrl: 'https://files.example/1', directPath: '/1' };
    };
    const { box, clock, devices, relayed, outcomes } = scriptedOutbox({ sendSlots, upload });
    box.prepare(asked({ mediaUrl: `http://127.0.0.1:${port}/picture.png`, mediaType: 'image' }));
    await until('the order waits for its second slot', async () => {
      await clock.advance(0);
      return take.mock.callCount() === 3;
    });
    await clock.advance(10 * MINUTE_MS);
    assert.deepEqual([devices.length, outcomes], [0, []]);
    if (end === 'recalled') box.recall(ORDER.messageId);
    otherSlots[0]?.giveBack();
    if (end === 'sent') {
      await clock.until(() => devices.length === 1);
      devices[0]?.([DEVICE]);
      await clock.until(() => relayed.length === 1);
      box.onAcknowledged({ id: ORDER.wireId });
    }
    await sendSlots.take('other');
    assert.deepEqual([devices.length, outcomes], end === 'sent' ? [1, ['acknowledged']] : [0, []]);
  });
}

test('an order that ends as it gets a slot gives the slot back', async () => {
  const { box, clock, devices, otherSlot, sendSlots } = await withoutSlot();
  box.prepare(asked());
  otherSlot.giveBack();
  box.recall(ORDER.messageId);
  await clock.advance(1_000);
  assert.equal(devices.length, 0);
  const freeSlot = await sendSlots.take('other');
  freeSlot.giveBack();
  box.prepare(asked());
  box.recall(ORDER.messageId);
  await sendSlots.take('other');
});

for (const end of ['recalled', 'replaced', 'given back by its session'] as const) {
  test(`an order that is ${end} while it waits takes no slot`, async () => {
    const { box, clock, devices, outcomes, otherSlot, sendSlots } = await withoutSlot();
    box.prepare(asked());
    if (end === 'recalled') box.recall(ORDER.messageId);
    else if (end === 'replaced') box.prepare(asked());
    else box.onClosed({ comesBack: true });
    assert.deepEqual(outcomes, end === 'given back by its session' ? ['not_sent'] : []);
    otherSlot.giveBack();
    await clock.advance(1_000);
    assert.equal(devices.length, end === 'replaced' ? 1 : 0);
    if (end === 'replaced') box.recall(ORDER.messageId);
    await sendSlots.take('other');
  });
}
