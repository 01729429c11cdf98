/** The network announces what a number may do with people who have no chat with it, and the shop goes by that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from '../../../../actors/failure.ts';
import { countsAsNewChat } from '../../../../actors/shops/judging/new-chats.ts';
import { policyView } from '../../../../actors/shops/operations/policy-view.ts';
import { describeShop } from '../../../../actors/shops/turns/describe-shop.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS } from '../../../../runtime/durations.ts';
import { PoolExchange, poolShop } from '../pool/pool-exchange.ts';
import { ShopHarness } from '../shop-harness.ts';

const wrote = { lastInboundAtMs: 0, stampMs: 0, optedOut: false, wireIds: [] };

/** Reports that the network restricts the number for six days from now. */
function restrict(
  shop: ShopHarness,
  told: { readonly endsAtMs?: number | null; readonly kind?: string } = {},
): number {
  const endsAtMs = shop.nowMs + 6 * DAY_MS;
  const restriction = { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs, ...told };
  shop.session({ type: 'session.limits', restriction });
  return endsAtMs;
}

function lift(shop: ShopHarness): void {
  const restriction = { isActive: false, kind: 'DEFAULT', endsAtMs: null };
  shop.session({ type: 'session.limits', restriction });
}

function quota(
  shop: ShopHarness,
  told: { readonly used: number; readonly warning?: 'first' | 'capped' },
): void {
  const newChats = { quota: 3, warning: null, endsAtMs: shop.nowMs + 10 * DAY_MS, ...told };
  shop.session({ type: 'session.limits', newChats });
}

/**
 * A connected shop with a message to a stranger that waits, and one that the network has just refused with this code.
 */
async function refused(code: string): Promise<{ readonly shop: ShopHarness; readonly waiting: string }> {
  const shop = await ShopHarness.connected();
  const refusedId = idOf(shop.sendToStranger('+33699990001'));
  const waiting = idOf(shop.sendToStranger('+33699990002'));
  shop.toWire(refusedId, 'nothing');
  shop.outcome(refusedId, { kind: 'refused', code });
  assert.equal(shop.statusOf(refusedId), 'failed SEND_REFUSED');
  return { shop, waiting };
}

function idOf(sent: string | Failure): string {
  assert.ok(typeof sent === 'string', JSON.stringify(sent));
  return sent;
}

function refusalOf(sent: string | Failure): readonly [string, number | undefined] {
  assert.ok(typeof sent !== 'string', 'it was accepted');
  return [sent.code, sent.retryAfterSeconds];
}

/** A message to somebody who wrote is accepted and sent. */
function sendsTo(shop: ShopHarness, to: string): void {
  const id = shop.sendTo(to, { writer: wrote });
  shop.toWire(id);
  shop.outcome(id, { kind: 'acknowledged' });
  assert.equal(shop.statusOf(id), 'sent');
}

/** The tenant's events of numbers so far: type and data. */
function eventsOf(shop: ShopHarness): (readonly [string, unknown])[] {
  return shop.writes.flatMap((write) => {
    const [command, ...rest] = write;
    if (command !== 'XADD') return [];
    const type = String(rest[rest.indexOf('t') + 1]);
    const data = String(rest[rest.indexOf('d') + 1]);
    return type.startsWith('number.') ? [[type, JSON.parse(data)] as const] : [];
  });
}

/** The quota as it is counted here: what the network may have, and what was accepted besides. */
function countsOf(shop: ShopHarness): { readonly used: number; readonly accepted: number } {
  const { newChats } = shop.state.limits;
  assert.ok(newChats);
  return { used: newChats.used, accepted: newChats.accepted };
}

const networkOf = (shop: ShopHarness) =>
  policyView(shop.state, { settings: resolveSettings({}), nowMs: shop.nowMs }).network;

test('a message counts as a new chat if it goes to a number without a chat with the shop', () => {
  const to = '+33699990001';
  assert.equal(countsAsNewChat(to, { writer: undefined }), true);
  assert.equal(countsAsNewChat(to, { writer: undefined, hasChat: false }), true);
  assert.equal(countsAsNewChat(to, { writer: undefined, hasChat: true }), false);
  assert.equal(countsAsNewChat(to, { writer: wrote }), false);
  assert.equal(countsAsNewChat(to, { writer: wrote, hasChat: false }), false);
  for (const other of ['120363000000000777@g.us', '100000000000002@lid', ''])
    assert.equal(countsAsNewChat(other, { writer: undefined }), false, other);
});

test('while the network restricts the number only people with a chat are written to, until the named end', async () => {
  const shop = await ShopHarness.connected();
  const endsAtMs = restrict(shop);
  shop.pass(60_000);
  const left = 6 * 86_400 - 60;
  assert.deepEqual(refusalOf(shop.sendToStranger('+33699990003')), ['COLD_RECIPIENT_CAP_REACHED', left]);
  // A customer on record who never wrote has no chat either.
  assert.equal(shop.send('+33600000010'), 'COLD_RECIPIENT_CAP_REACHED');
  sendsTo(shop, '+33600000011');
  const declaration = { expiresAtMs: null, isRevoked: false };
  const declared = shop.sendTo('+33600000012', { isCustomer: false, declaration });
  assert.equal(declared, 'DECLARED_RECIPIENT_CAP_REACHED');
  const endsAt = new Date(endsAtMs).toISOString();
  assert.deepEqual(networkOf(shop), {
    restrictedUntil: endsAt,
    restriction: 'RESTRICT_ALL_COMPANIONS',
    newChats: null,
  });
  shop.pass(endsAtMs - shop.nowMs - 1);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'object');
  shop.pass(1);
  assert.match(idOf(shop.sendToStranger('+33699990003')), /^[0-9a-f]{24}$/);
  assert.deepEqual(eventsOf(shop), [
    ['number.restricted', { restriction: 'RESTRICT_ALL_COMPANIONS', restrictedUntil: endsAt }],
    ['number.unrestricted', {}],
  ]);
});

test('the restriction ends when the network reports its end', async () => {
  const shop = await ShopHarness.connected();
  restrict(shop);
  lift(shop);
  assert.match(idOf(shop.sendToStranger('+33699990003')), /^[0-9a-f]{24}$/);
  lift(shop);
  assert.deepEqual(
    eventsOf(shop).map(([type]) => type),
    ['number.restricted', 'number.unrestricted'],
  );
});

test('if the network names no end, it is a day after its last report, published once', async () => {
  const shop = await ShopHarness.connected();
  restrict(shop, { endsAtMs: null });
  shop.pass(HOUR_MS);
  restrict(shop, { endsAtMs: shop.nowMs - 1 });
  assert.deepEqual(refusalOf(shop.sendToStranger('+33699990003')), ['COLD_RECIPIENT_CAP_REACHED', 86_400]);
  assert.equal(eventsOf(shop).length, 1);
  restrict(shop);
  assert.equal(eventsOf(shop).length, 2);
});

test('after a 463 without a reported restriction only people with a chat are written to for a day', async () => {
  const { shop, waiting } = await refused('463');
  shop.pass(60_000);
  assert.deepEqual(refusalOf(shop.sendToStranger('+33699990003')), [
    'COLD_RECIPIENT_CAP_REACHED',
    86_400 - 60,
  ]);
  shop.toWire(waiting, 'nothing');
  sendsTo(shop, '+33600000010');
  assert.equal(networkOf(shop).restriction, 'REFUSED');
  // It also refuses while it reports no restriction. That is no reason to try again.
  lift(shop);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'object');
  shop.pass(DAY_MS - 60_000 - 1);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'object');
  shop.pass(1);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'string');
});

test('after a 463 the end that the network names next counts', async () => {
  const { shop } = await refused('463');
  const endsAtMs = restrict(shop);
  assert.deepEqual(refusalOf(shop.sendToStranger('+33699990003')), [
    'COLD_RECIPIENT_CAP_REACHED',
    6 * 86_400,
  ]);
  assert.equal(shop.state.limits.restriction?.untilMs, endsAtMs);
  lift(shop);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'string');
});

test('a late 463 does not shorten a restriction whose end is known', async () => {
  const shop = await ShopHarness.connected();
  const endsAtMs = restrict(shop);
  shop.outcome('6b019170109c30b9f7000000', { kind: 'refused', code: '463' });
  assert.equal(shop.state.limits.restriction?.untilMs, endsAtMs);
});

test('waiting messages are checked again: rejected without a chat, with the code of their class', async () => {
  const shop = await ShopHarness.connected();
  const declaration = { expiresAtMs: null, isRevoked: false };
  const cold = idOf(shop.sendToStranger('+33699990002'));
  const declared = shop.sendTo('+33699990003', { isCustomer: false, declaration });
  const customer = shop.send('+33699990004');
  const known = shop.send('+33600000010');
  restrict(shop);
  for (const [id, wroteThen, status] of [
    [cold, 'nothing', 'rejected COLD_RECIPIENT_CAP_REACHED'],
    [declared, 'nothing', 'rejected DECLARED_RECIPIENT_CAP_REACHED'],
    [customer, 'nothing', 'rejected COLD_RECIPIENT_CAP_REACHED'],
    [known, 'hello', 'sending'],
  ] as const) {
    shop.toWire(id, wroteThen);
    assert.equal(shop.statusOf(id), status);
    shop.pass(20_000);
  }
});

test('before the wire the token decides: a person who wrote but has no token is not written to', async () => {
  const shop = await ShopHarness.connected();
  const [refusedSend, acceptedSend] = [shop.send('+33600000010'), shop.send('+33600000011')];
  restrict(shop);
  shop.toWire(refusedSend, 'hello', false);
  assert.equal(shop.statusOf(refusedSend), 'rejected COLD_RECIPIENT_CAP_REACHED');
  assert.deepEqual(shop.idsOf('recall'), [refusedSend]);
  shop.toWire(acceptedSend, 'hello', true);
  assert.equal(shop.statusOf(acceptedSend), 'sending');
});

test('a waiting message goes to a person with a token, even if they never wrote to the service', async () => {
  const shop = await ShopHarness.connected();
  const [first, second] = [shop.send('+33699990003'), shop.send('+33699990004')];
  restrict(shop);
  shop.toWire(first, 'nothing', true);
  assert.equal(shop.statusOf(first), 'sending');
  assert.equal(shop.effectsOf('prepare').at(-1)?.order.needsChat, true);
  shop.outcome(first, { kind: 'acknowledged' });
  shop.pass(20_000);
  lift(shop);
  quota(shop, { used: 3 });
  shop.toWire(second, 'nothing', true);
  assert.equal(shop.statusOf(second), 'sending');
  assert.equal(networkOf(shop).newChats?.used, 3, 'it starts no chat');
});

test('a waiting message is rejected if the session finds no token for its recipient, with the code of its class', async () => {
  const shop = await ShopHarness.connected();
  const declaration = { expiresAtMs: null, isRevoked: false };
  const cold = idOf(shop.sendToStranger('+33699990002'));
  const declared = shop.sendTo('+33699990003', { isCustomer: false, declaration });
  restrict(shop);
  for (const [id, code] of [
    [cold, 'COLD_RECIPIENT_CAP_REACHED'],
    [declared, 'DECLARED_RECIPIENT_CAP_REACHED'],
  ] as const) {
    shop.passFirstLook(id);
    shop.outcome(id, { kind: 'no_chat' });
    assert.equal(shop.statusOf(id), `rejected ${code}`);
  }
});

test('an unrestricted number may write to people without a token', async () => {
  const shop = await ShopHarness.connected();
  const id = idOf(shop.sendToStranger('+33699990002'));
  shop.toWire(id, 'nothing', false);
  assert.equal(shop.statusOf(id), 'sending');
});

test('a message to a group goes out while the number is restricted', async () => {
  const shop = await ShopHarness.connected();
  const groups = [{ id: '1@g.us', name: 'g', participantCount: 3, isAdmin: true, announce: false }];
  shop.session({ type: 'session.groups', groups });
  restrict(shop);
  assert.match(shop.send('1@g.us'), /^[0-9a-f]{24}$/);
});

test('the quota that is left bounds first contacts of every class, those that wait included', async () => {
  const shop = await ShopHarness.connected();
  quota(shop, { used: 1 });
  const first = idOf(shop.sendToStranger('+33699990001'));
  const second = shop.send('+33699990002');
  const spent = refusalOf(shop.sendToStranger('+33699990003'));
  assert.deepEqual(spent, ['COLD_RECIPIENT_CAP_REACHED', 10 * 86_400]);
  assert.match(shop.sendTo('+33600000010', { writer: wrote }), /^[0-9a-f]{24}$/);
  assert.equal(networkOf(shop).newChats?.used, 1);
  shop.toWire(first, 'nothing');
  assert.equal(networkOf(shop).newChats?.used, 1);
  shop.outcome(first, { kind: 'acknowledged' });
  assert.equal(networkOf(shop).newChats?.used, 2);
  // The network counts it as well, and one message still waits.
  quota(shop, { used: 2 });
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'object');
  shop.pass(20_000);
  shop.toWire(second, 'hello');
  shop.outcome(second, { kind: 'acknowledged' });
  assert.equal(shop.state.limits.newChats?.used, 2);
});

test('an attempt that did not reach the wire uses no quota, nor does a message that the network refused', async () => {
  const shop = await ShopHarness.connected();
  quota(shop, { used: 0 });
  const ids = [shop.send('+33699990001'), shop.send('+33699990002'), shop.send('+33699990003')];
  const [tried = '', refusedId = ''] = ids;
  for (const kind of ['not_sent', 'rate_limited', 'not_sent'] as const) {
    shop.toWire(tried, 'nothing');
    assert.equal(shop.statusOf(tried), 'sending');
    shop.outcome(tried, { kind });
    assert.deepEqual(countsOf(shop), { used: 0, accepted: 3 });
    shop.pass(900_000);
  }
  shop.toWire(tried, 'nothing');
  shop.outcome(tried, { kind: 'acknowledged' });
  assert.deepEqual(countsOf(shop), { used: 1, accepted: 2 });
  shop.pass(20_000);
  shop.toWire(refusedId, 'nothing');
  shop.outcome(refusedId, { kind: 'refused', code: '479' });
  assert.deepEqual(countsOf(shop), { used: 1, accepted: 1 });
  assert.match(shop.send('+33699990004'), /^[0-9a-f]{24}$/);
});

test('a message with an unknown outcome uses up the quota', async () => {
  const ends: readonly ((shop: ShopHarness, id: string) => Promise<ShopHarness>)[] = [
    async (shop, id) => {
      shop.outcome(id, { kind: 'unknown' });
      return shop;
    },
    async (shop) => {
      shop.pass(180_000);
      return shop;
    },
    (shop) => shop.successor('store'),
  ];
  const counts = [];
  for (const end of ends) {
    const shop = await ShopHarness.connected();
    quota(shop, { used: 0 });
    const id = shop.send('+33699990001');
    shop.toWire(id, 'nothing');
    assert.deepEqual(countsOf(shop), { used: 0, accepted: 1 });
    counts.push(countsOf(await end(shop, id)));
  }
  assert.deepEqual(counts, Array(3).fill({ used: 1, accepted: 0 }));
});

test('after a 475 the quota counts as used up until the network names the next cycle', async () => {
  const { shop, waiting } = await refused('475');
  assert.deepEqual(refusalOf(shop.sendToStranger('+33699990003')), ['COLD_RECIPIENT_CAP_REACHED', 86_400]);
  shop.pass(20_000);
  shop.toWire(waiting, 'nothing');
  assert.equal(shop.statusOf(waiting), 'rejected COLD_RECIPIENT_CAP_REACHED');
  quota(shop, { used: 0 });
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'string');
});

test('each step of the warning is published once', async () => {
  const shop = await ShopHarness.connected();
  const endsAt = new Date(shop.nowMs + 10 * DAY_MS).toISOString();
  quota(shop, { used: 1 });
  quota(shop, { used: 2, warning: 'first' });
  quota(shop, { used: 2, warning: 'first' });
  quota(shop, { used: 3, warning: 'capped' });
  assert.deepEqual(eventsOf(shop), [
    ['number.warned', { warning: 'first', quota: 3, used: 2, endsAt }],
    ['number.warned', { warning: 'capped', quota: 3, used: 3, endsAt }],
  ]);
});

test('events of an older session are ignored', async () => {
  const shop = await ShopHarness.connected();
  const restriction = { isActive: true, kind: 'DEFAULT', endsAtMs: shop.nowMs + DAY_MS };
  shop.session({ type: 'session.limits', restriction }, {}, 0);
  assert.equal(shop.state.limits.restriction, null);
});

test('a restricted pool shop takes no new messages, and sends those it took only to people with a chat', async () => {
  for (const [wroteThen, status] of [
    ['nothing', 'rejected COLD_RECIPIENT_CAP_REACHED'],
    ['hello', 'sending'],
  ] as const) {
    const exchange = await PoolExchange.start(1, 1);
    const id = exchange.origin.send('+33612345678', 'hello', poolShop(0));
    const later = exchange.origin.send('+33612345679', 'hello', poolShop(0));
    const [pool] = exchange.pools;
    assert.ok(pool);
    assert.equal(exchange.take(pool, id).kind, 'taken');
    restrict(pool);
    assert.equal(exchange.take(pool, later).kind, 'refused');
    pool.toWire(id, wroteThen);
    assert.equal(pool.statusOf(id), status);
  }
});

test('other refusals of the network restrict no recipient', async () => {
  const { shop } = await refused('479');
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'string');
});

test('all limits are stored by the turn that received them, so a restart changes nothing', async () => {
  const shop = await ShopHarness.connected();
  restrict(shop);
  quota(shop, { used: 2, warning: 'first' });
  const { state: loaded } = await shop.successor('store');
  assert.deepEqual(loaded.limits, shop.state.limits);
  assert.deepEqual(describeShop(loaded).limits, shop.state.limits);
  lift(shop);
  assert.equal((await shop.successor('store')).state.limits.restriction, null);
});
