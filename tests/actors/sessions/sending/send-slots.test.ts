/** A worker has slots for messages, and a tenant has slots for attachments. An order without a slot waits. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { SendOrder } from '../../../../actors/sessions/session-host.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { FairSlots, type Slot } from '../../../../runtime/fair-slots.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';
import { asked, DEVICE, ORDER, scriptedOutbox, TENANT } from './scripted-outbox.ts';

/** Returns an outbox whose worker has one slot, which another tenant has taken. */
async function withoutSlot() {
  const sendSlots = new FairSlots({ all: 1, share: 1 });
  const otherSlot = await sendSlots.take('other');
  return { ...scriptedOutbox({ sendSlots }), sendSlots, otherSlot };
}

/**
 * Starts a server of attachments, which answers with a picture, or never. Returns an order's fields for the picture,
 * and how often it was asked for.
 */
async function pictureServer(context: TestContext, { answers }: { readonly answers: boolean }) {
  let askedCount = 0;
  const files = createServer((_, reply) => {
    askedCount += 1;
    if (answers) reply.writeHead(200, { 'content-type': 'image/png' }).end('PNG');
  });
  const port = await listening(files);
  context.after(() => files.close());
  const picture = { mediaUrl: `http://127.0.0.1:${port}/picture.png`, mediaType: 'image' } as const;
  return { picture, askedCount: () => askedCount };
}

/** Returns an outbox that a server of attachments never answers, whose tenant's only slot for attachments is taken. */
async function withoutMediaSlot(context: TestContext) {
  const mediaSlots = new FairSlots({ share: 1 });
  const otherSlot = await mediaSlots.take(TENANT);
  const take = context.mock.method(mediaSlots, 'take');
  const outbox = scriptedOutbox({ mediaSlots });
  const { picture, askedCount } = await pictureServer(context, { answers: false });
  /** Gives an order with an attachment. Resolves when it waits for the slot. */
  const prepare = async (change: Partial<SendOrder> = {}): Promise<void> => {
    const countBefore = take.mock.callCount();
    outbox.box.prepare(asked({ ...picture, ...change }));
    await outbox.clock.until(() => take.mock.callCount() > countBefore);
  };
  const untilAsked = (count: number) =>
    until('the attachment is asked for', async () => {
      await outbox.clock.advance(0);
      return askedCount() === count;
    });
  /** Returns the wait of the first order for the slot. */
  const firstWait = async () => take.mock.calls[0]?.result;
  return { ...outbox, mediaSlots, otherSlot, prepare, askedCount, untilAsked, firstWait };
}

const OTHER = { messageId: '65f0000000000000000000bb', wireId: '3EB0BB' };

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
  box.prepare(asked(OTHER));
  await clock.advance(10_000);
  assert.equal(devices.length, 1);
  box.onAcknowledged({ id: ORDER.wireId });
  await clock.until(() => devices.length === 2);
});

for (const kind of ['message', 'status'] as const) {
  test(`an order of the kind ${kind} has no slot of the worker while its attachment is fetched`, async (context) => {
    const { picture, askedCount } = await pictureServer(context, { answers: false });
    const sendSlots = new FairSlots({ all: 1, share: 1 });
    // A status shows no composing first, so it needs no slot until then.
    const otherSlot = kind === 'status' ? await sendSlots.take('other') : undefined;
    const { box, clock, outcomes } = scriptedOutbox({ sendSlots });
    box.prepare(asked({ ...picture, kind }));
    await until('the attachment is asked for', async () => {
      await clock.advance(0);
      return askedCount() === 1;
    });
    const slot = otherSlot ?? (await sendSlots.take('other'));
    assert.deepEqual(outcomes, []);
    slot.giveBack();
    box.recall(ORDER.messageId);
  });
}

test('an order that waits for its tenant’s other attachments may wait nine minutes, and then has its whole time', async (context) => {
  const { clock, outcomes, prepare, askedCount, untilAsked, otherSlot, mediaSlots } =
    await withoutMediaSlot(context);
  await prepare();
  await clock.advance(9 * MINUTE_MS);
  assert.deepEqual([askedCount(), outcomes], [0, []]);
  otherSlot.giveBack();
  await untilAsked(1);
  await clock.advance(90_000 - 1);
  assert.deepEqual(outcomes, []);
  await clock.advance(1);
  assert.deepEqual(outcomes, ['media_unavailable']);
  await mediaSlots.take(TENANT);
});

test('an order that waited too long for its attachment leaves the slot to the next one, and is recalled', async (context) => {
  const { box, clock, outcomes, prepare, askedCount, untilAsked, otherSlot, mediaSlots } =
    await withoutMediaSlot(context);
  await prepare();
  await clock.advance(9 * MINUTE_MS);
  await prepare(OTHER);
  await clock.advance(MINUTE_MS + 1_000);
  otherSlot.giveBack();
  await untilAsked(1);
  box.recall(OTHER.messageId);
  await mediaSlots.take(TENANT);
  await clock.advance(2 * MINUTE_MS);
  box.recall(ORDER.messageId);
  assert.deepEqual([askedCount(), outcomes], [1, []]);
});

for (const end of ['recalled', 'replaced', 'given back by its session'] as const) {
  for (const phase of ['waits for its tenant’s slot', 'is fetched'] as const) {
    test(`an attachment whose order is ${end} while it ${phase} leaves the slot free`, async (context) => {
      const { box, outcomes, prepare, askedCount, untilAsked, otherSlot, mediaSlots, firstWait } =
        await withoutMediaSlot(context);
      await prepare();
      const isFetched = phase === 'is fetched';
      if (isFetched) {
        otherSlot.giveBack();
        await untilAsked(1);
      }
      if (end === 'recalled') box.recall(ORDER.messageId);
      else if (end === 'replaced') await prepare();
      else box.onClosed({ comesBack: true });
      otherSlot.giveBack();
      if (end === 'replaced') {
        await untilAsked(isFetched ? 2 : 1);
        box.recall(ORDER.messageId);
      }
      await mediaSlots.take(TENANT);
      if (!isFetched) await assert.rejects(firstWait(), 'no one waits any more');
      const countBefore = isFetched ? 1 : 0;
      assert.equal(askedCount(), end === 'replaced' ? countBefore + 1 : countBefore);
      assert.deepEqual(outcomes, end === 'given back by its session' ? ['not_sent'] : []);
    });
  }
}

test('two orders with attachments that end together leave their tenant’s slot free', async (context) => {
  const { box, outcomes, prepare, askedCount, untilAsked, otherSlot, mediaSlots } =
    await withoutMediaSlot(context);
  await prepare();
  await prepare(OTHER);
  otherSlot.giveBack();
  await untilAsked(1);
  // The first gives its slot to the second, which then ends too.
  box.onClosed({ comesBack: false });
  await mediaSlots.take(TENANT);
  assert.deepEqual([askedCount(), outcomes], [1, ['not_sent', 'not_sent']]);
});

for (const end of ['sent', 'recalled'] as const) {
  test(`an order whose attachment is uploaded waits for a slot again, and then is ${end}`, async (context) => {
    const { picture } = await pictureServer(context, { answers: true });
    const sendSlots = new FairSlots({ all: 1, share: 1 });
    const take = context.mock.method(sendSlots, 'take');
    const otherSlots: Slot[] = [];
    const upload = async () => {
      otherSlots.push(await sendSlots.take('other'));
      return { mediaUrl: 'https://files.example/1', directPath: '/1' };
    };
    const { box, clock, devices, relayed, outcomes } = scriptedOutbox({ sendSlots, upload });
    box.prepare(asked(picture));
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
