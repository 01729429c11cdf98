import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEnd } from '../../../../actors/sessions/session-events.ts';
import { channelView } from '../../../../actors/shops/operations/channel-view.ts';
import { channelState } from '../../../../actors/shops/state/shop-state.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';

function closed(end: SessionEnd) {
  return { type: 'session.closed', end, statusCode: undefined, detail: '' } as const;
}

test('connecting asks for a session, shows each QR code, and stores the fields of the contract in one turn', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'connect' });
  assert.equal(channelState(shop.state), 'starting');
  shop.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
  shop.session({ type: 'session.qr', qr: 'two', expiresAtMs: 2 });
  assert.deepEqual(shop.state.qr, { text: 'two', expiresAtMs: 2 });
  const countBefore = shop.writes.length;
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  assert.equal(shop.state.qr, undefined);
  const stored = shop.writes.slice(countBefore).flat().join(' ');
  assert.match(stored, /msgapp connected/);
  assert.match(stored, /owner-number \+33600000001 NX/);
});

test('a poll gets a code or is asked to poll again, also while the code is unknown after a crash', async () => {
  const shop = await ShopHarness.start();
  const view = () => channelView(shop.state, async (qr) => `image of ${qr}`);
  shop.command({ type: 'connect' });
  assert.deepEqual([(await view()).status, (await view()).pollAfterMs], ['starting', 2_000]);
  shop.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
  assert.deepEqual([(await view()).qr, (await view()).pollAfterMs], ['one', 2_000]);
  const crashed = await shop.successor('store', 'crash');
  const after = await channelView(crashed.state, async () => '');
  assert.deepEqual([after.status, after.qr, after.pollAfterMs], ['starting', undefined, 2_000]);
});

test('a QR code never reaches the store', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.qr', qr: 'the-secret-code', expiresAtMs: 1 });
  assert.ok(!JSON.stringify(shop.writes).includes('the-secret-code'));
});

test('unreadable credentials are tried again every five minutes, and queued messages fail after ten', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.session({
    type: 'session.closed',
    end: 'credentials_unreadable',
    statusCode: undefined,
    detail: 'stored credentials exist and cannot be read',
  });
  assert.equal(shop.state.channel.value, 'reconnecting');
  assert.equal(shop.state.channel.context.flagged, false);
  assert.equal(shop.state.channel.context.reconnectAtMs, shop.nowMs + 5 * MINUTE_MS);
  assert.equal(shop.statusOf(id), 'queued');
  shop.pass(5 * MINUTE_MS);
  assert.equal(shop.state.channel.value, 'starting');
  shop.pass(5 * MINUTE_MS);
  assert.equal(shop.statusOf(id), 'failed MSGAPP_NOT_CONNECTED');
});

test('a session that another took over is tried once more after 30 s, and is lost when that happens again within the hour', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  const back = (): void => {
    const { nowMs } = shop;
    shop.session(closed('replaced'));
    assert.equal(shop.state.channel.value, 'reconnecting');
    assert.equal(shop.state.channel.context.reconnectAtMs, nowMs + 30_000);
    shop.pass(30_000);
    assert.equal(shop.state.channel.value, 'starting');
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  };
  back();
  assert.notEqual(shop.statusOf(id), 'failed MSGAPP_SESSION_LOST');
  shop.pass(60 * MINUTE_MS);
  back();
  shop.session(closed('transient'));
  shop.pass(MINUTE_MS);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  const lost = shop.send('+33600000012');
  shop.session(closed('replaced'));
  assert.equal(channelState(shop.state), 'disconnected');
  assert.equal(shop.statusOf(lost), 'failed MSGAPP_SESSION_LOST');
});

for (const end of ['logged_out', 'forbidden', 'replaced'] as const) {
  test(`${end} is terminal: disconnected, flagged, the queue fails MSGAPP_SESSION_LOST, later sends too`, async () => {
    const shop = await ShopHarness.connected();
    if (end === 'replaced') shop.replacedOnce();
    const ids = [shop.send('+33600000010'), shop.send('+33600000011')];
    shop.session(closed(end));
    assert.equal(channelState(shop.state), 'disconnected');
    for (const id of ids) assert.equal(shop.statusOf(id), 'failed MSGAPP_SESSION_LOST');
    assert.equal(shop.send(), 'MSGAPP_SESSION_LOST');
    assert.equal(shop.effectsOf('erase').length, end === 'logged_out' ? 1 : 0);
  });
}

test('a paired channel whose credentials are gone is lost: disconnected, flagged, no code, and all that waits fails', async () => {
  for (const reopened of ['reconnect', 'restart'] as const) {
    const shop = await ShopHarness.connected();
    shop.session(closed('transient'));
    const id = shop.send();
    if (reopened === 'reconnect') shop.pass(MINUTE_MS);
    else shop.restart();
    const closes = shop.effectsOf('close').length;
    shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
    assert.equal(channelState(shop.state), 'disconnected');
    assert.equal(shop.state.qr, undefined);
    assert.equal(shop.effectsOf('close').length, closes + 1, 'nobody scans the code of a lost session');
    assert.equal(shop.statusOf(id), 'failed MSGAPP_SESSION_LOST');
    assert.equal(shop.state.channel.context.lastEnd, null, 'the drop before is not why');
    assert.equal(shop.send('+33600000010'), 'MSGAPP_SESSION_LOST');
    shop.command({ type: 'connect' });
    shop.session({ type: 'session.qr', qr: 'anew', expiresAtMs: 1 });
    assert.equal(channelState(shop.state), 'qr_waiting');
    assert.equal(shop.send('+33600000010'), 'MSGAPP_SESSION_LOST', 'flagged until it is connected');
    shop.session({ type: 'session.connected', phone: '33600000002', pairedAtMs: shop.nowMs });
    assert.match(shop.send('+33600000010'), /^[0-9a-f]{24}$/);
  }
});

for (const [from, moment] of [
  ['disconnected', 'at once'],
  ['reconnecting', 'at once'],
  ['starting', 'at once'],
  ['disconnected', 'after a restart'],
] as const) {
  test(`a connect while ${from} shows a code ${moment} if the credentials are gone, and queued messages fail`, async () => {
    const shop = await ShopHarness.connected();
    shop.command({ type: 'pause' });
    const id = shop.send();
    if (from === 'disconnected') shop.command({ type: 'disconnect' });
    else shop.session(closed('transient'));
    if (from === 'starting') shop.pass(MINUTE_MS);
    assert.equal(channelState(shop.state), from);
    shop.command({ type: 'connect' });
    if (moment === 'after a restart') shop.restart();
    shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
    assert.equal(channelState(shop.state), 'qr_waiting');
    assert.equal(shop.state.qr?.text, 'q');
    assert.equal(shop.statusOf(id), 'failed MSGAPP_SESSION_LOST');
    assert.equal(shop.send('+33600000010'), 'MSGAPP_SESSION_LOST');
  });
}

test('an earlier request to connect does not change the loss that is reported after the connection', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'disconnect' });
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  shop.session(closed('transient'));
  shop.pass(MINUTE_MS);
  shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
  assert.equal(channelState(shop.state), 'disconnected');
});

test('a send that is returned unsent after the loss of the session fails like the queue', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  shop.toWire(id);
  shop.session(closed('logged_out'));
  assert.equal(shop.statusOf(id), 'sending');
  shop.outcome(id, { kind: 'not_sent' });
  assert.equal(shop.statusOf(id), 'failed MSGAPP_SESSION_LOST');
});

test('a transient drop keeps the queue, reconnects with growing backoff, and continues where it was', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  let expectedMs = 1_000;
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const opens = shop.effectsOf('open').length;
    shop.session(closed('transient'));
    assert.equal(channelState(shop.state), 'reconnecting');
    const delayMs = (shop.state.channel.context.reconnectAtMs ?? 0) - shop.nowMs;
    assert.ok(delayMs >= expectedMs / 2 && delayMs <= expectedMs, `attempt ${attempt}: ${delayMs} ms`);
    expectedMs *= 2;
    shop.pass(delayMs);
    assert.equal(shop.effectsOf('open').length, opens + 1);
  }
  assert.equal(shop.statusOf(id), 'queued');
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  assert.equal(shop.effectsOf('first_look').at(-1)?.messageId, id);
});

test('a message accepted during a reconnection waits, and fails after ten minutes without a session', async () => {
  const shop = await ShopHarness.connected();
  shop.session(closed('transient'));
  shop.pass(9 * MINUTE_MS);
  const id = shop.send();
  shop.pass(10 * MINUTE_MS - 1);
  assert.equal(shop.statusOf(id), 'queued');
  shop.pass(1);
  assert.equal(shop.statusOf(id), 'failed MSGAPP_NOT_CONNECTED');
});

test('after a disconnect queued messages wait ten minutes for a session, and sends are refused', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const id = shop.send();
  shop.command({ type: 'disconnect' });
  assert.equal(shop.send('+33600000099'), 'MSGAPP_NOT_CONNECTED');
  shop.pass(10 * MINUTE_MS);
  assert.equal(shop.statusOf(id), 'failed MSGAPP_NOT_CONNECTED');
});

test('no message stays queued over a day', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const id = shop.send();
  shop.pass(24 * 60 * MINUTE_MS - 1);
  assert.equal(shop.statusOf(id), 'queued');
  shop.pass(1);
  assert.equal(shop.statusOf(id), 'failed EXPIRED');
});

test('events of an older session change nothing', async () => {
  const shop = await ShopHarness.connected();
  shop.session(closed('logged_out'), {}, shop.state.channel.context.generation - 1);
  assert.equal(channelState(shop.state), 'connected');
});

test('515 reopens at once under a new generation', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
  shop.session(closed('restart_required'));
  assert.equal(channelState(shop.state), 'starting');
  assert.deepEqual(
    shop.effectsOf('open').map(({ opening }) => opening.generation),
    [1, 2],
  );
});

test('after the last QR code the channel is disconnected and not flagged, and the next connect starts again', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.qr', qr: 'q', expiresAtMs: 1 });
  shop.session(closed('qr_exhausted'));
  assert.equal(channelState(shop.state), 'disconnected');
  assert.equal(shop.send(), 'MSGAPP_NOT_CONNECTED');
  shop.command({ type: 'connect' });
  assert.equal(channelState(shop.state), 'starting');
});

test('an unreachable sending component fails queued messages and new sends with BOT_SERVICE_UNREACHABLE', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const id = shop.send();
  shop.hasWorker = false;
  shop.command({ type: 'session.unreachable' });
  assert.equal(shop.statusOf(id), 'failed BOT_SERVICE_UNREACHABLE');
  assert.equal(shop.send('+33600000099'), 'BOT_SERVICE_UNREACHABLE');
});

test('a restart reopens only the sessions of channels that want one', async () => {
  const connected = await ShopHarness.connected();
  connected.restart();
  assert.equal(connected.effectsOf('open').length, 2);
  const endedHarness = await ShopHarness.connected();
  endedHarness.command({ type: 'disconnect' });
  endedHarness.restart();
  assert.equal(endedHarness.effectsOf('open').length, 1);
});

test('reconnecting keeps the warm-up day; a new pairing restarts it', async () => {
  const shop = await ShopHarness.connected();
  const pairedAtMs = shop.state.channel.context.pairedAtMs;
  shop.command({ type: 'disconnect' });
  shop.command({ type: 'connect' });
  assert.equal(shop.state.channel.context.pairedAtMs, pairedAtMs);
  shop.session(closed('logged_out'));
  assert.equal(shop.state.channel.context.pairedAtMs, null);
});

test('a temporary ban lasts until its end, even after a restart and a new connect', async () => {
  const shop = await ShopHarness.connected();
  const view = () => channelView(shop.state, async () => '');
  const ban = { ...closed('temporarily_banned'), statusCode: 402, networkCode: 101, waitMs: 120 * MINUTE_MS };
  shop.session(ban);
  const bannedUntil = new Date(shop.nowMs + 120 * MINUTE_MS).toISOString();
  const banned = { reason: 'TEMPORARILY_BANNED', networkCode: 101, bannedUntil };
  const told = async () => {
    const { reason, networkCode, bannedUntil } = await view();
    return { reason, networkCode, bannedUntil };
  };
  assert.deepEqual([channelState(shop.state), (await view()).status], ['banned', 'disconnected']);
  assert.deepEqual(await told(), banned);
  const openedCount = shop.effectsOf('open').length;
  shop.command({ type: 'connect' });
  shop.restart();
  shop.pass(60 * MINUTE_MS);
  shop.command({ type: 'disconnect' });
  shop.command({ type: 'connect' });
  assert.deepEqual([channelState(shop.state), await told()], ['banned', banned]);
  shop.pass(60 * MINUTE_MS - 1);
  assert.equal(shop.effectsOf('open').length, openedCount, 'nobody logged in meanwhile');
  shop.pass(1);
  assert.equal(shop.effectsOf('open').length, openedCount + 1);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  assert.equal((await view()).reason, undefined);
});

test('the shop waits an hour after a ban without an end, and thirty days after a ban of years', async () => {
  for (const [waitMs, minutes] of [
    [undefined, 60],
    [1_000, 5],
    [10 ** 12, 30 * 24 * 60],
  ] as const) {
    const shop = await ShopHarness.connected();
    shop.session({ ...closed('temporarily_banned'), ...(waitMs === undefined ? {} : { waitMs }) });
    assert.equal(shop.state.channel.context.reconnectAtMs, shop.nowMs + minutes * MINUTE_MS);
  }
});

test('a restart does not shorten the wait after a login that was refused', async () => {
  const shop = await ShopHarness.connected();
  for (const minutes of [1, 5]) {
    shop.session({ ...closed('login_refused'), statusCode: 409 });
    shop.pass(minutes * MINUTE_MS);
  }
  shop.session({ ...closed('login_refused'), statusCode: 409 });
  const { reconnectAtMs } = shop.state.channel.context;
  const successor = await shop.successor('store');
  assert.equal(successor.state.channel.context.reconnectAtMs, reconnectAtMs);
  assert.equal(successor.effectsOf('open').length, 0);
  successor.pass(15 * MINUTE_MS);
  assert.equal(successor.effectsOf('open').length, 1);
});

test('a refused login is tried five times, later each time, and then only after a new connect', async () => {
  const shop = await ShopHarness.connected();
  const view = () => channelView(shop.state, async () => '');
  const openedCount = shop.effectsOf('open').length;
  for (const minutes of [1, 5, 15, 60]) {
    shop.session({ ...closed('login_refused'), statusCode: 409 });
    assert.deepEqual([(await view()).status, (await view()).reason], ['starting', 'LOGIN_REFUSED']);
    shop.pass(minutes * MINUTE_MS);
    assert.equal(channelState(shop.state), 'starting', `after ${minutes} min`);
  }
  shop.session({ ...closed('login_refused'), statusCode: 409 });
  const { status, reason, networkCode } = await view();
  assert.deepEqual([status, reason, networkCode], ['disconnected', 'LOGIN_REFUSED', 409]);
  shop.pass(24 * 60 * MINUTE_MS);
  assert.equal(shop.effectsOf('open').length, openedCount + 4);
  shop.command({ type: 'connect' });
  assert.equal(channelState(shop.state), 'starting');
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 5 });
  shop.command({ type: 'disconnect' });
  assert.equal((await view()).reason, undefined, 'a refusal that is over is not why');
});
