/**
 * The time from the session's preparing to the commit of `sending`. Until then a message is queued, and nothing leaves.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

const OPTED_OUT = { lastInboundAtMs: 0, stampMs: 0, optedOut: true, wireIds: [] };

test('a message that is being prepared stays queued: a hand-over, a drop or a long silence puts it back and recalls it', async () => {
  for (const end of ['hand-over', 'drop', 'silence', 'kill'] as const) {
    const shop = await ShopHarness.connected();
    const id = shop.send();
    shop.passFirstLook(id);
    assert.deepEqual([pacingState(shop.state), shop.statusOf(id)], ['preparing', 'queued']);
    assert.equal(shop.effectsOf('prepare').length, 1);
    if (end === 'hand-over') {
      shop.drain();
      assert.ok(shop.isSettled);
    } else if (end === 'drop') {
      shop.session({ type: 'session.closed', end: 'transient', statusCode: 428, detail: 'cut' });
    } else if (end === 'silence') {
      shop.pass(12 * MINUTE_MS);
    } else {
      shop.restart();
    }
    assert.equal(shop.statusOf(id), 'queued');
    assert.deepEqual(shop.idsOf('recall'), [id]);
    // A late report lets nothing leave.
    shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']]);
    assert.deepEqual([shop.effectsOf('transmit'), shop.statusOf(id)], [[], 'queued']);
    assert.ok(shop.writes.every((write) => !write.includes('step')));
  }
});

test('a message that is still being prepared a day after its acceptance expires, and is recalled', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const id = shop.send();
  shop.pass(DAY_MS - MINUTE_MS);
  shop.command({ type: 'resume' });
  shop.passFirstLook(id);
  assert.equal(shop.statusOf(id), 'queued');
  shop.pass(MINUTE_MS);
  assert.deepEqual([shop.statusOf(id), shop.idsOf('recall')], ['failed EXPIRED', [id]]);
});

test('a message that is a day old when its turn comes expires, and the next one is started', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const old = shop.send();
  shop.nowMs += DAY_MS - MINUTE_MS;
  const next = shop.send();
  // The timer for the end of the first is late.
  shop.nowMs += MINUTE_MS;
  shop.command({ type: 'resume' });
  assert.deepEqual([shop.statusOf(old), shop.idsOf('first_look')], ['failed EXPIRED', [next]]);
});

test('a late report about an earlier attempt does not mark a message as prepared that is being sent again', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.passFirstLook(id);
  shop.command({ type: 'pause' });
  shop.command({ type: 'resume' });
  assert.equal(pacingState(shop.state), 'preparing');
  // It was reported before the recall, and the session no longer has an order to transmit.
  shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'former']]);
  assert.deepEqual([shop.effectsOf('transmit'), shop.statusOf(id)], [[], 'queued']);
  shop.passFirstLook(id);
  shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']]);
  assert.deepEqual([shop.effectsOf('transmit').length, shop.statusOf(id)], [1, 'sending']);
  assert.ok(shop.writes.every((write) => !write.includes('former')));
});

test('a late report of an earlier attempt that it found no chat does not end the message', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.passFirstLook(id);
  shop.command({ type: 'pause' });
  shop.command({ type: 'resume' });
  shop.outcome(id, { kind: 'no_chat' });
  assert.equal(shop.statusOf(id), 'queued');
  shop.passFirstLook(id);
  shop.outcome(id, { kind: 'no_chat' });
  assert.match(shop.statusOf(id) ?? '', /^rejected /);
});

test('the steps of the ratchets are in the turn that stores sending, and the frame leaves after it', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.passFirstLook(id);
  const countBefore = shop.writes.length;
  shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']]);
  assert.equal(shop.statusOf(id), 'sending');
  const turn = shop.writes.slice(countBefore);
  assert.ok(turn.some((write) => write.includes('step')));
  assert.ok(turn.some((write) => write.some((part) => String(part).includes('"sending"'))));
  assert.deepEqual(shop.effectsOf('transmit'), [{ type: 'transmit', messageId: id }]);
});

test('the body of a message at the session is not read again, and is forgotten when the message is put back', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.passFirstLook(id);
  const store = { ...storeOf(shop.redis), read: () => Promise.reject(new Error('it was read')) };
  const { generation } = shop.state.channel.context;
  const command = { type: 'session.prepared', generation, messageId: id, writes: [] } as const;
  const { state } = shop;
  const facts = await shop.facts(command, store);
  assert.equal(facts.dispatch?.body, state.currentBody);
  assert.equal(facts.dispatch?.body?.id, id);
  shop.session({ type: 'session.closed', end: 'transient', statusCode: 428, detail: 'cut' });
  assert.deepEqual([shop.statusOf(id), shop.state.currentBody], ['queued', undefined]);
});

test('a STOP that came under the network’s own id of the recipient is found at the last check', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send('+33612345678');
  shop.passFirstLook(id);
  const lid = '123456789012345@lid';
  const writer = { lastInboundAtMs: 0, stampMs: 0, optedOut: true, wireIds: [] };
  const { state } = shop;
  shop.redis.run(['HSET', state.keys.writers, lid, JSON.stringify(writer)]);
  const { generation } = state.channel.context;
  const command = { type: 'session.prepared', generation, messageId: id, lid, writes: [] } as const;
  await shop.ask(command);
  assert.deepEqual([shop.statusOf(id), shop.effectsOf('transmit')], ['rejected RECIPIENT_OPTED_OUT', []]);
});

for (const title of ['it comes while', 'it is found when'] as const) {
  test(`a STOP counts until the message is sending: ${title} it was prepared`, async () => {
    const shop = await ShopHarness.connected();
    const id = shop.send('+33612345678');
    shop.passFirstLook(id);
    const stop = { wireId: 'W', from: '+33612345678', text: 'STOP', atMs: shop.nowMs, token: 't' };
    if (title === 'it comes while') {
      shop.session({ type: 'session.inbound', ...stop });
    } else {
      const writer = { lastInboundAtMs: 0, stampMs: 0, optedOut: true, wireIds: [] };
      shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']], writer);
    }
    assert.equal(shop.statusOf(id), 'rejected RECIPIENT_OPTED_OUT');
    assert.deepEqual(shop.idsOf('recall'), [id]);
    shop.outcome(id, { kind: 'not_sent' });
    assert.deepEqual([shop.effectsOf('transmit'), shop.statusOf(id)], [[], 'rejected RECIPIENT_OPTED_OUT']);
    assert.ok(shop.writes.every((write) => !write.includes('step')));
  });
}

test('a STOP during the sending keeps the stanza from being sent again after a lost connection, and stops no other', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send('+33612345678');
  shop.passFirstLook(id);
  shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']]);
  const stop = { wireId: 'W', text: 'STOP', atMs: shop.nowMs, token: 't' };
  shop.session({ type: 'session.inbound', ...stop, from: '+33699999999' });
  assert.deepEqual(shop.effectsOf('do_not_repeat'), []);
  shop.session({ type: 'session.inbound', ...stop, from: '+33612345678' });
  assert.deepEqual(shop.effectsOf('do_not_repeat'), [{ type: 'do_not_repeat', messageId: id }]);
  shop.outcome(id, { kind: 'unknown' });
  assert.equal(shop.statusOf(id), 'failed DELIVERY_UNKNOWN');
});

for (const [title, facts, hasChat, effect] of [
  ['nothing is against it', {}, true, 'transmit'],
  ['its recipient opted out', { writer: OPTED_OUT }, true, 'do_not_repeat'],
  ['its origin took it back', { isWithdrawn: true }, true, 'do_not_repeat'],
  ['the network restricts the number and names no chat', {}, false, 'do_not_repeat'],
] as const) {
  test(`a transmitted message is checked before it is sent once more: ${title}`, async () => {
    const shop = await ShopHarness.connected();
    const id = shop.send('+33612345678');
    const dispatch = { body: shop.bodies.get(id), writer: undefined, audience: [] };
    shop.toWireBy(id, dispatch);
    if (!hasChat) {
      const restriction = { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs: null };
      shop.session({ type: 'session.limits', restriction });
    }
    const repeat = { type: 'session.prepared', messageId: id, writes: [], hasChat } as const;
    shop.session(repeat, { dispatch: { ...dispatch, ...facts } });
    const said =
      shop.effectsOf('transmit').length === 2 ? 'transmit' : shop.effectsOf('do_not_repeat')[0]?.type;
    assert.deepEqual([said, shop.statusOf(id)], [effect, 'sending']);
    shop.outcome(id, { kind: 'refused', code: 'refresh_lid' });
    shop.session(repeat, { dispatch });
    assert.equal(shop.effectsOf('transmit').length, effect === 'transmit' ? 2 : 1, 'it has ended');
  });
}

test('a status that is being sealed is sealed again without a viewer who sends STOP, once', async () => {
  const shop = await ShopHarness.connected();
  const draft = {
    caption: 'Fresh bread',
    mediaUrl: undefined,
    mediaType: 'image' as const,
    idempotencyKey: undefined,
    requestId: 'test',
  };
  shop.command({ type: 'post_status', draft, settings: resolveSettings({}) });
  const id = shop.state.currentMessage?.messageId ?? '';
  const looked = (audience: readonly string[]): void => {
    const dispatch = { body: shop.bodies.get(id), writer: undefined, audience };
    shop.command({ type: 'first_look', messageId: id }, { dispatch });
  };
  looked(['+33611110001', '+33611110002']);
  const stop = { wireId: 'W', from: '+33611110001', text: 'STOP', atMs: shop.nowMs, token: 't' };
  shop.session({ type: 'session.inbound', ...stop });
  assert.deepEqual(shop.idsOf('recall'), [id]);
  const { event, to } = shop.state.transitions.list().at(-1) ?? {};
  assert.deepEqual([event, to], ['taken_back', 'gap']);
  shop.outcome(id, { kind: 'not_sent' });
  shop.reportPrepared(id, [['HSET', 'k', 'session/a', 'step']]);
  assert.deepEqual([shop.effectsOf('transmit'), shop.statusOf(id)], [[], 'queued']);
  shop.pass(20_000);
  looked(['+33611110002']);
  const writer = { lastInboundAtMs: 0, stampMs: 0, optedOut: true, wireIds: [] };
  const received = { writtenBy: stop.from, optsOut: true, writer };
  shop.session({ type: 'session.inbound', ...stop, wireId: 'W2' }, { received });
  assert.equal(pacingState(shop.state), 'preparing', 'they are not among those it is sealed for');
  assert.deepEqual(
    shop.effectsOf('prepare').map(({ order }) => order.audience),
    [['+33611110001', '+33611110002'], ['+33611110002']],
  );
});

test('a message that cannot be prepared is put back a few times, then refused; a rate signal pauses the queue', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  for (let round = 0; round < 5; round += 1) {
    assert.equal(shop.statusOf(id), 'queued');
    shop.passFirstLook(id);
    shop.outcome(id, { kind: 'unprepared' });
    shop.pass(20_000);
  }
  assert.equal(shop.statusOf(id), 'failed SEND_REFUSED');
  const other = shop.send('+33612345679');
  shop.passFirstLook(other);
  shop.outcome(other, { kind: 'rate_limited' });
  assert.deepEqual([pacingState(shop.state), shop.statusOf(other)], ['paused', 'queued']);
});
