/** Receipts of a shop's messages: which devices count, for how long, and their effects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StanzaReceipt } from '../../../../actors/sessions/session-events.ts';
import { shopSummary } from '../../../../actors/shops/inspection/shop-summary.ts';
import { messageLookup } from '../../../../actors/shops/records/message-days.ts';
import {
  decodeMessage,
  type MessageFields,
  messageView,
} from '../../../../actors/shops/records/message-record.ts';
import { readReceipts } from '../../../../actors/shops/turns/dispatch/receipt-turn.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

const PERSON = '+33612345678';
const LID = '123456789012345@lid';
const GROUP = '120363000000000001@g.us';
const OTHER_GROUP = '120363000000000002@g.us';

/** Puts a message on the wire and has it acknowledged; its id and that of its stanza. */
function sent(shop: ShopHarness, to = PERSON): { id: string; wireId: string } {
  const id = shop.send(to);
  const body = shop.bodies.get(id);
  const dispatch = { body, writer: undefined, audience: [] };
  shop.command({ type: 'first_look', messageId: id }, { dispatch });
  shop.session({ type: 'session.prepared', messageId: id, lid: LID, writes: [] }, { dispatch });
  shop.outcome(id, { kind: 'acknowledged' });
  shop.pass(20_000);
  return { id, wireId: body?.wireId ?? '' };
}

async function tell(shop: ShopHarness, ...told: (Partial<StanzaReceipt> & { wireId: string })[]) {
  const receipts = told.map((one) => ({
    kind: 'delivered' as const,
    from: PERSON,
    group: undefined,
    atMs: shop.nowMs,
    ...one,
  }));
  const event = { type: 'session.receipts' as const, generation: 1, token: 'receipts 1.1', receipts };
  const sources = { store: storeOf(shop.redis), nowMs: shop.nowMs };
  shop.session(event, await readReceipts(shop.state, event, sources), 1);
}

function view(shop: ShopHarness, id: string) {
  const fields = shop.redis.run(messageLookup(shop.state.shard, id)) as MessageFields;
  const message = decodeMessage(id, fields);
  assert.ok(message);
  return messageView(message);
}

function events(shop: ShopHarness): string[] {
  return shop.writes
    .splice(0)
    .filter(([command]) => command === 'XADD')
    .map((write) => String(write[write.indexOf('t') + 1]));
}

test('delivered and read are recorded once and permanently, and the status stays', async () => {
  const shop = await ShopHarness.connected();
  const { id, wireId } = sent(shop);
  const { status, updatedAt, sentAt } = view(shop, id);
  assert.deepEqual([view(shop, id).deliveredAt, view(shop, id).readAt], [null, null]);
  events(shop);
  const deliveredAtMs = shop.nowMs;
  await tell(shop, { wireId });
  shop.pass(60_000);
  await tell(shop, { wireId }, { wireId, kind: 'read' });
  shop.pass(60_000);
  await tell(shop, { wireId, kind: 'read', atMs: 0 }, { wireId, atMs: 0 });
  const after = view(shop, id);
  assert.equal(after.deliveredAt, new Date(deliveredAtMs).toISOString());
  assert.equal(after.readAt, new Date(deliveredAtMs + 60_000).toISOString());
  assert.deepEqual([after.status, after.updatedAt, after.sentAt], [status, updatedAt, sentAt]);
  assert.equal(after.deliveredCount, undefined);
  assert.deepEqual(events(shop), ['message.delivered', 'message.read']);
  assert.deepEqual(
    shop.effectsOf('count_receipt').map(({ kind }) => kind),
    ['delivered', 'read'],
  );
});

test('a message that was read was delivered, and no time is before it was sent or after now', async () => {
  const shop = await ShopHarness.connected();
  const { id, wireId } = sent(shop);
  events(shop);
  await tell(shop, { wireId, kind: 'read', atMs: shop.nowMs + HOUR_MS, from: LID });
  const { deliveredAt, readAt } = view(shop, id);
  assert.deepEqual([deliveredAt, readAt], Array(2).fill(new Date(shop.nowMs).toISOString()));
  assert.deepEqual(events(shop), ['message.delivered', 'message.read']);
  const other = sent(shop, '+33699999999');
  await tell(shop, { wireId: other.wireId, from: '+33699999999', atMs: 1 });
  assert.equal(view(shop, other.id).deliveredAt, view(shop, other.id).sentAt);
});

test('a receipt counts for a stanza that went to the network id of a person whose number is now known', async () => {
  const shop = await ShopHarness.connected();
  const { id, wireId } = sent(shop, LID);
  await tell(shop, { wireId, lid: '999@lid' });
  assert.equal(view(shop, id).deliveredAt, null);
  await tell(shop, { wireId, lid: LID });
  assert.equal(view(shop, id).deliveredAt, new Date(shop.nowMs).toISOString());
});

test('a forged, a foreign and a late receipt change nothing', async () => {
  const shop = await ShopHarness.connected();
  const { id, wireId } = sent(shop);
  const before = view(shop, id);
  events(shop);
  await tell(
    shop,
    { wireId: '3EB0FFFFFFFFFFFFFFFFFF' },
    { wireId, from: '+33600000000' },
    { wireId, from: '999@lid', kind: 'read' },
    { wireId, group: GROUP },
    { wireId: `${wireId} delivered ${PERSON}` },
    { wireId: '' },
  );
  assert.deepEqual([view(shop, id), events(shop)], [before, []]);
  shop.pass(48 * HOUR_MS);
  await tell(shop, { wireId });
  assert.deepEqual([view(shop, id), shop.writes], [before, []]);
});

test('a receipt counts for two days, over midnight and restarts', async () => {
  const shop = await ShopHarness.connected();
  shop.pass(15.9 * HOUR_MS);
  const { id, wireId } = sent(shop);
  shop.pass(47 * HOUR_MS);
  const next = await shop.successor('store');
  await tell(next, { wireId });
  assert.equal(view(next, id).deliveredAt, new Date(next.nowMs).toISOString());
});

test('the first receipt of a group sets the time, and each member counts once', async () => {
  const shop = await ShopHarness.connected();
  shop.session({
    type: 'session.groups',
    groups: [{ id: GROUP, name: 'Us', participantCount: 3, isAdmin: true, announce: false }],
  });
  const { id, wireId } = sent(shop, GROUP);
  assert.deepEqual([view(shop, id).deliveredCount, view(shop, id).readCount], [0, 0]);
  events(shop);
  const group = GROUP;
  const atMs = shop.nowMs;
  await tell(shop, { wireId, group, from: '1@lid' }, { wireId, group, from: '1@lid' });
  shop.pass(1_000);
  await tell(shop, { wireId, group, from: '2@lid', kind: 'read' }, { wireId, group, from: '1@lid' });
  await tell(shop, { wireId, group, from: '2@lid' }, { wireId, from: '3@lid' }, { wireId, group, from: '' });
  await tell(shop, { wireId, group: OTHER_GROUP, from: '4@lid' });
  const { deliveredAt, deliveredCount, readCount } = view(shop, id);
  assert.deepEqual([deliveredAt, deliveredCount, readCount], [new Date(atMs).toISOString(), 2, 1]);
  assert.deepEqual(events(shop), ['message.delivered', 'message.read']);
});

test('operators see a shop whose messages reach no one for a day, until one does', async () => {
  const shop = await ShopHarness.connected();
  const words = () =>
    shopSummary({
      address: { shard: 0, kind: 'shop', id: 'a/b', text: '' },
      status: 'active',
      state: shop.state,
      mailboxDepth: 0,
      oldestCommandAgeMs: 0,
      restarts: 0,
    }).status.words;
  sent(shop);
  sent(shop, '+33612345679');
  shop.pass(25 * HOUR_MS);
  assert.ok(!words().includes('undelivered'), 'two phones may be off');
  const third = sent(shop, '+33612345670');
  shop.pass(23 * HOUR_MS);
  assert.ok(!words().includes('undelivered'), 'the third may still come within its day');
  sent(shop, '+33612345671');
  shop.pass(HOUR_MS);
  assert.ok(words().includes('undelivered'));
  assert.deepEqual((await shop.successor('store')).state.undelivered, shop.state.undelivered);
  await tell(shop, { wireId: third.wireId, from: '+33600000000' });
  assert.ok(words().includes('undelivered'), 'a forged receipt changes nothing');
  await tell(shop, { wireId: third.wireId, from: '+33612345670' });
  assert.ok(!words().includes('undelivered'));
  assert.equal((await shop.successor('store')).state.undelivered, undefined);
});
