import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { PACING_TIMES } from '../../../../actors/shops/machines/pacing-times.ts';
import { pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';

test('the pause is that of the contract, and both waits are longer than those of a session together', () => {
  assert.deepEqual(PACING_TIMES, {
    pauseMs: 15 * MINUTE_MS,
    preparingMs: 12 * MINUTE_MS,
    outcomeMs: 3 * MINUTE_MS,
  });
});

test('an attachment that begins as late as it may is fetched and uploaded before the shop recalls its message', () => {
  const { attachmentBeginMs, mediaMs, uploadMs } = DEFAULT_SESSION_TIMING;
  assert.ok(attachmentBeginMs + mediaMs + uploadMs < PACING_TIMES.preparingMs);
});

test('a message goes queued → sending → sent, and reaches the wire only in the turn that stored it as sending', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  assert.equal(shop.statusOf(id), 'queued');
  assert.deepEqual(shop.idsOf('first_look'), [id]);
  assert.equal(shop.effectsOf('prepare').length, 0);
  shop.toWire(id);
  assert.equal(shop.statusOf(id), 'sending');
  assert.deepEqual(
    shop.effectsOf('prepare').map(({ order }) => order.messageId),
    [id],
  );
  shop.outcome(id, { kind: 'acknowledged' });
  assert.equal(shop.statusOf(id), 'sent');
});

for (const stage of ['preparing', 'sending'] as const) {
  test(`a late first look at a message that the session already has orders nothing: ${stage}`, async () => {
    const shop = await ShopHarness.connected();
    const id = shop.send();
    // It is put back and prepared again before its first look, so two are on their way.
    shop.command({ type: 'pause' });
    shop.command({ type: 'resume' });
    assert.equal(shop.effectsOf('first_look').length, 2);
    if (stage === 'preparing') shop.passFirstLook(id);
    else shop.toWire(id);
    shop.passFirstLook(id);
    assert.equal(pacingState(shop.state), stage);
    assert.equal(shop.effectsOf('prepare').length, 1);
  });
}

test('a shop sends one message at a time: the next waits for the outcome and a gap of 6 to 20 seconds', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
  shop.toWire(first);
  shop.pass(10_000);
  assert.equal(shop.effectsOf('first_look').length, 1);
  shop.outcome(first, { kind: 'acknowledged' });
  shop.pass(5_999);
  assert.equal(shop.effectsOf('first_look').length, 1);
  shop.pass(14_001);
  assert.deepEqual(shop.idsOf('first_look'), [first, second]);
});

test('gaps are uniform between 6 and 20 seconds', async () => {
  const shop = await ShopHarness.connected(7);
  const tenths = new Array<number>(10).fill(0);
  for (let round = 0; round < 240; round += 1) {
    const id = shop.send(`+336000${String(10_000 + round)}`, `text ${round}`);
    shop.toWire(id);
    shop.outcome(id, { kind: 'acknowledged' });
    const gapMs = (shop.state.pacing.context.untilMs ?? 0) - shop.nowMs;
    assert.ok(gapMs >= 6_000 && gapMs <= 20_000, `a gap of ${gapMs} ms`);
    const tenth = Math.min(9, Math.floor((gapMs - 6_000) / 1_400));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    shop.pass(6 * MINUTE_MS);
  }
  // 24 expected in each tenth; chi-square with 9 degrees of freedom stays under 27.9 in 999 of 1000 runs.
  const chiSquare = tenths.reduce((sum, count) => sum + (count - 24) ** 2 / 24, 0);
  assert.ok(chiSquare < 27.9, `chi-square ${chiSquare} of ${tenths.join(' ')}`);
});

for (const kind of ['acknowledgement', 'look-up'] as const) {
  test(`a rate signal to the ${kind} pauses the whole queue for 15 minutes, then the same message goes first`, async () => {
    const shop = await ShopHarness.connected();
    const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
    if (kind === 'acknowledgement') shop.toWire(first);
    else shop.passFirstLook(first);
    shop.outcome(first, { kind: 'rate_limited' });
    assert.equal(shop.statusOf(first), 'queued');
    shop.pass(15 * MINUTE_MS - 1);
    assert.equal(shop.effectsOf('first_look').length, 1);
    shop.pass(1);
    assert.deepEqual(shop.idsOf('first_look'), [first, first]);
    assert.deepEqual(
      shop.state.queue.map(({ messageId }) => messageId),
      [second],
    );
  });
}

test('a restart fails the message in `sending` with BOT_RESTARTED, and the others continue', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
  shop.toWire(first);
  shop.restart();
  assert.equal(shop.statusOf(first), 'failed BOT_RESTARTED');
  assert.equal(shop.statusOf(second), 'queued');
  const generation = shop.effectsOf('open').at(-1)?.opening.generation ?? 0;
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 }, {}, generation);
  shop.pass(20_000);
  assert.equal(shop.effectsOf('first_look').at(-1)?.messageId, second);
});

test('a restart before the wire puts the message back to the head of the queue', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
  shop.passFirstLook(first);
  shop.restart();
  assert.deepEqual(
    shop.state.queue.map(({ messageId }) => messageId),
    [first, second],
  );
  assert.equal(shop.statusOf(first), 'queued');
});

for (const stage of ['the first look', 'the session'] as const) {
  test(`a hand-over puts a message that waits for ${stage} back to the head of the queue and waits for nothing`, async () => {
    const shop = await ShopHarness.connected();
    const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
    if (stage === 'the session') shop.passFirstLook(first);
    assert.equal(pacingState(shop.state), 'preparing');
    shop.drain();
    assert.ok(shop.isSettled);
    // The session still answers the earlier order, and that changes nothing.
    shop.toWire(first);
    assert.deepEqual(
      shop.state.queue.map(({ messageId }) => messageId),
      [first, second],
    );
    assert.equal(shop.effectsOf('prepare').length, stage === 'the session' ? 1 : 0);
    assert.equal(shop.effectsOf('transmit').length, 0);
    shop.restart();
    assert.equal(shop.statusOf(first), 'queued');
  });
}

test('a hand-over waits for a message that is sending: it is put back if nothing is on the wire, else its outcome counts', async () => {
  for (const [outcome, status] of [
    [{ kind: 'not_sent' }, 'queued'],
    [{ kind: 'acknowledged' }, 'sent'],
  ] as const) {
    const shop = await ShopHarness.connected();
    const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
    shop.toWire(first);
    shop.drain();
    assert.deepEqual(shop.effectsOf('recall'), []);
    assert.ok(!shop.isSettled);
    shop.outcome(first, outcome);
    assert.ok(shop.isSettled);
    shop.pass(MINUTE_MS);
    assert.equal(shop.effectsOf('first_look').length, 1, 'nothing more is taken from the queue');
    shop.restart();
    assert.equal(shop.statusOf(first), status);
    assert.deepEqual(
      shop.state.queue.map(({ messageId }) => messageId),
      status === 'queued' ? [first, second] : [second],
    );
  }
});

test('after a crash of the actor, the message on the wire still gets its outcome', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id);
  shop.restart('crash');
  assert.equal(shop.statusOf(id), 'sending');
  assert.equal(shop.effectsOf('open').length, 1);
  shop.outcome(id, { kind: 'acknowledged' });
  assert.equal(shop.statusOf(id), 'sent');
});

test('each outcome gives the message its status', async () => {
  const statuses = [
    [{ kind: 'refused', code: '463' }, 'failed SEND_REFUSED'],
    [{ kind: 'media_unavailable', detail: '' }, 'failed MEDIA_UNAVAILABLE'],
    [{ kind: 'unknown' }, 'failed DELIVERY_UNKNOWN'],
    [{ kind: 'restarted' }, 'failed BOT_RESTARTED'],
    [{ kind: 'not_sent' }, 'queued'],
    [{ kind: 'unprepared' }, 'queued'],
  ] as const;
  for (const [outcome, status] of statuses) {
    const shop = await ShopHarness.connected();
    const id = shop.send();
    shop.toWire(id);
    shop.outcome(id, outcome);
    assert.equal(shop.statusOf(id), status, outcome.kind);
  }
});

test('a number that is not on the network is rejected without a gap, and a missing answer rejects nothing', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
  shop.passFirstLook(first);
  shop.outcome(first, { kind: 'not_on_network' });
  assert.equal(shop.statusOf(first), 'rejected RECIPIENT_NOT_ON_MSGAPP');
  assert.equal(shop.effectsOf('first_look').at(-1)?.messageId, second);
  shop.passFirstLook(second);
  shop.outcome(second, { kind: 'not_sent' });
  assert.equal(shop.statusOf(second), 'queued');
  assert.equal(pacingState(shop.state), 'gap');
});

test('a message that the network always refuses is tried five times, a gap apart, and hardly delays the others', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33600000010'), shop.send('+33600000011')];
  for (let tries = 1; tries <= 5; tries += 1) {
    assert.equal(shop.effectsOf('first_look').length, tries);
    shop.toWire(first);
    shop.outcome(first, { kind: 'unprepared' });
    assert.equal(shop.statusOf(first), tries < 5 ? 'queued' : 'failed SEND_REFUSED');
    shop.pass(5_999);
    assert.equal(shop.effectsOf('first_look').length, tries);
    shop.pass(14_001);
  }
  assert.equal(shop.effectsOf('first_look').at(-1)?.messageId, second);
  shop.toWire(second);
  shop.outcome(second, { kind: 'unprepared' });
  assert.equal(shop.statusOf(second), 'queued');
});

test('a message whose session drops before the wire waits, no matter how often that happens', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  for (let drops = 0; drops < 10; drops += 1) {
    shop.toWire(id);
    shop.outcome(id, { kind: 'not_sent' });
    shop.session({ type: 'session.closed', end: 'transient', statusCode: 428, detail: 'cut' });
    assert.equal(shop.statusOf(id), 'queued');
    shop.pass(MINUTE_MS);
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  }
  shop.toWire(id);
  shop.outcome(id, { kind: 'acknowledged' });
  assert.equal(shop.statusOf(id), 'sent');
});

test('an opt-out that came after acceptance is seen just before the wire', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id, 'STOP');
  assert.equal(shop.statusOf(id), 'rejected RECIPIENT_OPTED_OUT');
  assert.equal(shop.effectsOf('prepare').length, 0);
});

test('an outcome that made the actor throw settles its own message as unknown, and no other', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id);
  const { generation } = shop.state.channel.context;
  const poison = { type: 'session.send_outcome', generation, outcome: { kind: 'acknowledged' } } as const;
  shop.recover({ ...poison, messageId: '65f0000000000000000000ff' });
  assert.equal(shop.statusOf(id), 'sending');
  shop.recover({ ...poison, messageId: id });
  assert.equal(shop.statusOf(id), 'failed DELIVERY_UNKNOWN');
});

test('a queue that an operator paused stays paused after a restart, until an operator resumes it', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const id = shop.send();
  assert.equal(shop.effectsOf('first_look').length, 0);
  shop.restart();
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  assert.equal(shop.effectsOf('first_look').length, 0);
  shop.command({ type: 'resume' });
  assert.deepEqual(shop.idsOf('first_look'), [id]);
});

test('a message that is being prepared waits as well once an operator pauses the queue', async () => {
  for (const isWithSession of [false, true]) {
    const shop = await ShopHarness.connected();
    const id = shop.send();
    if (isWithSession) shop.passFirstLook(id);
    assert.equal(pacingState(shop.state), 'preparing');
    shop.command({ type: 'pause' });
    const recalled = shop.idsOf('recall');
    assert.deepEqual(recalled, [id]);
    shop.toWire(id);
    shop.pass(MINUTE_MS);
    assert.deepEqual([shop.statusOf(id), shop.effectsOf('transmit')], ['queued', []]);
    shop.command({ type: 'resume' });
    shop.toWire(id);
    assert.equal(shop.statusOf(id), 'sending');
  }
});

test('an outcome that never comes counts as unknown after its deadline, and is not sent again', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id);
  shop.pass(180_000);
  assert.equal(shop.statusOf(id), 'failed DELIVERY_UNKNOWN');
  shop.pass(60_000);
  assert.equal(shop.effectsOf('prepare').length, 1);
});

test('a message costs a commit when it is accepted, one before the wire and one for its outcome', async () => {
  const shop = await ShopHarness.connected();
  const commits: string[] = [];
  const writes = (title: string, act: () => unknown): void => {
    const countBefore = shop.writes.length;
    act();
    if (shop.writes.length > countBefore) commits.push(title);
  };
  let id = '';
  writes('accepted', () => {
    id = shop.send();
  });
  writes('first look', () => shop.passFirstLook(id));
  assert.equal(pacingState(shop.state), 'preparing');
  writes('prepared', () => shop.reportPrepared(id, []));
  writes('outcome', () => shop.outcome(id, { kind: 'acknowledged' }));
  writes('end of the gap', () => shop.pass(20_000));
  assert.equal(pacingState(shop.state), 'idle');
  assert.deepEqual(commits, ['accepted', 'prepared', 'outcome']);
});

test('a paused queue has one event with its first cause, also if an operator pauses and resumes it in between', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id);
  shop.outcome(id, { kind: 'rate_limited' });
  shop.command({ type: 'pause' });
  shop.command({ type: 'resume' });
  shop.pass(15 * MINUTE_MS);
  shop.command({ type: 'pause' });
  assert.deepEqual(
    shop.effectsOf('announce_pacing').map(({ began }) => began),
    ['rate_signal', 'operator', null, null, 'operator'],
  );
});

test('an inactive tenant’s messages do not reach the wire, and its queue continues when it is active again', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send(), shop.send('+33612345679')];
  shop.command({ type: 'tenant_active', isActive: false });
  assert.equal(shop.state.currentMessage, undefined, 'the current message is put back');
  shop.passFirstLook(first);
  shop.pass(HOUR_MS);
  assert.deepEqual([shop.statusOf(first), shop.statusOf(second)], ['queued', 'queued']);
  shop.command({ type: 'tenant_active', isActive: true });
  shop.toWire(first);
  assert.equal(shop.statusOf(first), 'sending');
});
