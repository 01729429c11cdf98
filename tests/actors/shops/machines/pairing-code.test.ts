/**
 * A channel that is paired by a code to type on the phone. The tests show its states, its refusals and what is kept of
 * the code.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure, Outcome } from '../../../../actors/failure.ts';
import type { SessionEnd } from '../../../../actors/sessions/session-events.ts';
import { channelView } from '../../../../actors/shops/operations/channel-view.ts';
import { channelState } from '../../../../actors/shops/state/shop-state.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';

const PHONE = '33600000001';
const OTHER = '33600000002';

const ask = (shop: ShopHarness, pairWith = PHONE) =>
  shop.command({ type: 'connect', pairWith }) as Outcome<true>;
const give = (shop: ShopHarness, code = 'K7QX2MZN') =>
  shop.session({ type: 'session.pairing_code', code, expiresAtMs: shop.nowMs + 160_000 });
const close = (shop: ShopHarness, end: SessionEnd, statusCode?: number) =>
  shop.session({ type: 'session.closed', end, statusCode, detail: '' });
const openings = (shop: ShopHarness) =>
  shop.effectsOf('open').map(({ opening }) => [opening.generation, opening.pairWith]);
const view = (shop: ShopHarness) => channelView(shop.state, async () => 'image');

function refusal(outcome: Outcome<true>): Failure {
  assert.ok(!outcome.ok);
  return outcome.failure;
}

async function waiting(): Promise<ShopHarness> {
  const shop = await ShopHarness.start();
  assert.ok(ask(shop).ok);
  give(shop);
  return shop;
}

test('a code is asked for by number, shown to every poll, and the channel is connected by it', async () => {
  const shop = await ShopHarness.start();
  ask(shop);
  assert.deepEqual(openings(shop), [[1, PHONE]]);
  give(shop);
  assert.equal(channelState(shop.state), 'code_waiting');
  const { code, expiresAt, pollAfterMs, status, qr } = await view(shop);
  assert.deepEqual(
    [code, expiresAt, pollAfterMs, status, qr],
    ['K7QX2MZN', new Date(shop.nowMs + 160_000).toISOString(), 2_000, 'starting', undefined],
  );
  close(shop, 'restart_required');
  assert.equal((await view(shop)).code, undefined, 'a code that was typed is shown no more');
  assert.deepEqual(openings(shop).at(-1), [2, PHONE]);
  shop.session({ type: 'session.connected', phone: PHONE, pairedAtMs: shop.nowMs });
  assert.equal((await view(shop)).phone, PHONE);
  close(shop, 'transient');
  shop.pass(MINUTE_MS);
  assert.deepEqual(openings(shop).at(-1), [3, undefined], 'a session that is back asks for no code');
});

test('a repeated request for the number returns the pending code; another number or a QR code opens a new session', async () => {
  const shop = await waiting();
  ask(shop);
  assert.equal(shop.effectsOf('open').length, 1);
  assert.equal((await view(shop)).code, 'K7QX2MZN');
  ask(shop, OTHER);
  assert.equal(channelState(shop.state), 'starting');
  assert.equal((await view(shop)).code, undefined);
  give(shop, 'AAAA1111');
  shop.command({ type: 'connect' });
  assert.equal((await view(shop)).code, undefined);
  shop.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
  assert.equal((await view(shop)).qr, 'one');
  ask(shop);
  assert.deepEqual(openings(shop), [
    [1, PHONE],
    [2, OTHER],
    [3, undefined],
    [4, PHONE],
  ]);
  assert.equal((await view(shop)).qr, undefined);
  // While it is being opened, too.
  shop.command({ type: 'connect' });
  assert.deepEqual(openings(shop).at(-1), [5, undefined]);
});

test('a code that is never typed ends the attempt: the next may be by a QR code or for another number', async () => {
  const shop = await waiting();
  close(shop, 'qr_exhausted', 408);
  const { status, code } = await view(shop);
  assert.deepEqual([status, code], ['disconnected', undefined]);
  shop.command({ type: 'connect' });
  assert.deepEqual(openings(shop).at(-1), [2, undefined]);
});

test('a disconnect ends the code', async () => {
  const shop = await waiting();
  shop.command({ type: 'disconnect' });
  assert.equal(shop.effectsOf('close').length, 1);
  assert.equal((await view(shop)).code, undefined);
  shop.restart();
  assert.equal(channelState(shop.state), 'disconnected');
});

test('a shop that is linked gets no code, connected or not; one that lost its session does', async () => {
  const shop = await ShopHarness.connected();
  assert.equal(refusal(ask(shop)).code, 'MSGAPP_ALREADY_LINKED');
  close(shop, 'transient');
  assert.equal(refusal(ask(shop)).code, 'MSGAPP_ALREADY_LINKED');
  shop.command({ type: 'disconnect' });
  assert.equal(refusal(ask(shop)).code, 'MSGAPP_ALREADY_LINKED');
  const openedCount = shop.effectsOf('open').length;
  assert.equal(openedCount, 1, 'nothing was opened by what was refused');
  const lostHarness = await ShopHarness.connected();
  close(lostHarness, 'logged_out', 401);
  assert.ok(ask(lostHarness).ok);
  give(lostHarness);
  assert.equal(channelState(lostHarness.state), 'code_waiting');
  assert.equal(lostHarness.send(), 'MSGAPP_SESSION_LOST', 'flagged until it is connected');
});

test('after too many requests for codes the network gets none for 15 minutes, even after a restart', async () => {
  const shop = await ShopHarness.start();
  ask(shop);
  close(shop, 'pairing_refused', 429);
  assert.equal(channelState(shop.state), 'disconnected');
  shop.pass(MINUTE_MS);
  const { code, retryAfterSeconds } = refusal(ask(shop, OTHER));
  assert.deepEqual([code, retryAfterSeconds], ['PAIRING_RATE_LIMITED', 14 * 60]);
  const laterHarness = await shop.successor('store', 'activation');
  const { code: laterCode, message } = refusal(ask(laterHarness));
  assert.equal(laterCode, 'PAIRING_RATE_LIMITED');
  assert.match(message ?? '', /^The chat network said/);
  laterHarness.pass(14 * MINUTE_MS);
  assert.ok(ask(laterHarness).ok);
});

test('an attempt by QR code does not end the pause on codes', async () => {
  const shop = await ShopHarness.start();
  ask(shop);
  close(shop, 'pairing_refused', 429);
  shop.pass(MINUTE_MS);
  shop.command({ type: 'connect' });
  close(shop, 'qr_exhausted', 408);
  const { code, retryAfterSeconds } = refusal(ask(shop));
  assert.deepEqual([code, retryAfterSeconds], ['PAIRING_RATE_LIMITED', 14 * 60]);
  const laterHarness = await shop.successor('store', 'activation');
  assert.equal(refusal(ask(laterHarness)).code, 'PAIRING_RATE_LIMITED');
  laterHarness.pass(14 * MINUTE_MS);
  assert.ok(ask(laterHarness).ok);
});

test('a number that the network refuses may be followed by another at once', async () => {
  const shop = await ShopHarness.start();
  ask(shop);
  close(shop, 'pairing_refused', 404);
  assert.equal(channelState(shop.state), 'disconnected');
  assert.ok(ask(shop, OTHER).ok);
});

for (const cause of ['activation', 'crash'] as const) {
  test(`a shop that was taken over (${cause}) while its code waited asks for another code for the number`, async () => {
    const shop = await waiting();
    const stored = shop.writes.flat().join(' ');
    assert.ok(!stored.includes('K7QX2MZN') && !stored.includes('code_waiting'));
    const next = await shop.successor('store', cause);
    assert.equal(channelState(next.state), 'starting');
    assert.deepEqual(openings(next).at(-1), [2, PHONE]);
    give(next, 'BBBB2222');
    assert.equal((await view(next)).code, 'BBBB2222');
  });
}

test('after a drop another code is requested, and after ten drops none', async () => {
  const shop = await waiting();
  for (let drops = 0; drops < 10; drops += 1) {
    close(shop, 'transient', 428);
    assert.equal(channelState(shop.state), 'reconnecting');
    assert.equal((await view(shop)).code, undefined);
    shop.pass(10 * MINUTE_MS);
    give(shop);
  }
  assert.ok(openings(shop).every(([, pairWith]) => pairWith === PHONE));
  close(shop, 'transient', 428);
  assert.equal(channelState(shop.state), 'disconnected');
});
