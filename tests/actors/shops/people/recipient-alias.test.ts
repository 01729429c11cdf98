/** The network knows a person by another number, or by an id of its own: both are one recipient from then on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../../actors/failure.ts';
import type { IdempotentReply } from '../../../../actors/shops/idempotent-reply.ts';
import type { AcceptedReply } from '../../../../actors/shops/shop-operations.ts';
import { recipientKey } from '../../../../policy/number-forms.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

const WRITTEN = '+33612345678';
const KNOWN = '+33698765432';
/** A number that has two forms, and counts under the short one. */
const BRAZILIAN = '+5531996348800';
const LID = '123456789012345@lid';

async function shopOf(...customers: readonly string[]): Promise<ShopHarness> {
  const shop = await ShopHarness.connected();
  shop.redis.run(['SADD', shop.state.people.customers, ...customers]);
  return shop;
}

/** Sends with the facts that are stored. Returns the message's id, or the code of the refusal. */
async function send(shop: ShopHarness, to: string): Promise<string> {
  const draft = textDraft(to, `hello at ${shop.nowMs}`);
  const command = { type: 'send', draft, settings: resolveSettings({}), pool: undefined } as const;
  const reply = (await shop.ask(command)) as Outcome<IdempotentReply<AcceptedReply>>;
  return reply.ok ? reply.value.accepted.id : reply.failure.code;
}

/** The session prepares the message, and the network knows its recipient by this number. */
async function lookedUp(shop: ShopHarness, messageId: string, number: string): Promise<void> {
  shop.passFirstLook(messageId);
  const { generation } = shop.state.channel.context;
  await shop.ask({ type: 'session.recipient_known', generation, messageId, number });
}

/** Sends the prepared message, and lets the time until the next message to its recipient pass. */
function sent(shop: ShopHarness, messageId: string): void {
  shop.reportPrepared(messageId, []);
  assert.equal(shop.statusOf(messageId), 'sending');
  shop.outcome(messageId, { kind: 'acknowledged' });
  shop.pass(11 * MINUTE_MS);
}

for (const [written, after] of [
  [WRITTEN, 'at once'],
  [BRAZILIAN, 'after a restart'],
] as const) {
  test(`a message to a number counts for the number that the network knows, ${after}`, async () => {
    let shop = await shopOf(written, KNOWN);
    const first = await send(shop, written);
    await lookedUp(shop, first, KNOWN);
    sent(shop, first);
    if (after === 'after a restart') {
      const { bodies, state } = shop;
      shop = await shop.successor('store', 'activation', 2);
      for (const [id, body] of bodies) shop.bodies.set(id, body);
      const { phone, pairedAtMs } = state.channel.context;
      shop.session({ type: 'session.connected', phone: phone ?? '', pairedAtMs: pairedAtMs ?? 0 });
    }
    const second = await send(shop, KNOWN);
    await lookedUp(shop, second, KNOWN);
    sent(shop, second);
    const third = await send(shop, written);
    await lookedUp(shop, third, KNOWN);
    sent(shop, third);
    assert.equal(await send(shop, KNOWN), 'RECIPIENT_RATE_LIMITED');
  });
}

test('a turn that is not committed leaves the counts of both numbers as they were', async () => {
  const shop = await shopOf(WRITTEN, KNOWN);
  const first = await send(shop, WRITTEN);
  shop.passFirstLook(first);
  const { ledger } = shop.state;
  const counted = (number: string): number =>
    ledger.messageTimesMs({ recipient: recipientKey(number), nowMs: shop.nowMs }).length;
  const { generation } = shop.state.channel.context;
  const command = { type: 'session.recipient_known', generation, messageId: first, number: KNOWN } as const;
  const decided = shop.decide(command, await shop.facts(command));
  assert.deepEqual([counted(WRITTEN), counted(KNOWN)], [1, 0]);
  assert.notEqual(decided.state?.ledger, ledger);
});

test('of two messages that waited for one person, the first goes, and the second is judged with it', async () => {
  const shop = await shopOf(WRITTEN, KNOWN);
  shop.command({ type: 'pause' });
  const first = await send(shop, WRITTEN);
  shop.pass(5 * MINUTE_MS);
  const second = await send(shop, KNOWN);
  shop.command({ type: 'resume' });
  await lookedUp(shop, first, KNOWN);
  shop.reportPrepared(first, []);
  assert.equal(shop.statusOf(first), 'sending');
  shop.outcome(first, { kind: 'acknowledged' });
  shop.pass(MINUTE_MS);
  shop.passFirstLook(second);
  assert.equal(shop.statusOf(second), 'rejected RECIPIENT_RATE_LIMITED');
});

test('a person who wrote while the network sent no number is stored under the number once it is known', async () => {
  const shop = await shopOf(WRITTEN);
  const { writers, aliases } = shop.state.keys;
  const writer = JSON.stringify({ lastInboundAtMs: 1, stampMs: 1, optedOut: false, wireIds: [] });
  shop.redis.run(['HSET', writers, LID, writer]);
  const messageId = await send(shop, WRITTEN);
  shop.passFirstLook(messageId);
  const { generation } = shop.state.channel.context;
  await shop.ask({ type: 'session.prepared', generation, messageId, lid: LID, writes: [] });
  assert.equal(shop.statusOf(messageId), 'sending');
  assert.deepEqual(shop.redis.run(['HGETALL', writers]), [WRITTEN, writer]);
  const forms = [LID, WRITTEN, `#${recipientKey(LID)}`, WRITTEN];
  assert.deepEqual(shop.redis.run(['HGETALL', aliases]), forms);
});

test('a message is not sent once more if the counts of both addresses of its recipient forbid it', async () => {
  const shop = await shopOf(WRITTEN);
  const messageId = await send(shop, WRITTEN);
  shop.passFirstLook(messageId);
  shop.reportPrepared(messageId, []);
  assert.equal(shop.statusOf(messageId), 'sending');
  const replyToLid = { atMs: shop.nowMs, subject: recipientKey(LID), fingerprint: { high: 1, low: 1 } };
  shop.state.ledger.record({ kind: 'known', ...replyToLid });
  const { generation } = shop.state.channel.context;
  await shop.ask({ type: 'session.prepared', generation, messageId, lid: LID, writes: [] });
  assert.deepEqual(shop.effectsOf('do_not_repeat'), [{ type: 'do_not_repeat', messageId }]);
});
