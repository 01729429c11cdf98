/**
 * A person wrote while the network hid their number, and their number comes later: from then on it stands for them.
 * Their opt-out stops replies to what they wrote before, and messages to both addresses count as to one person.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberUseWrite } from '../../../../actors/shops/number-past/number-use.ts';
import { aliasField } from '../../../../actors/shops/records/alias-field.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import type { MessageDraft } from '../../../../actors/shops/shop-operations.ts';
import { addressee, changedShop } from '../../../../actors/shops/state/shop-state.ts';
import { encodeEntry } from '../../../../policy/ledger-entry.ts';
import { recipientKey } from '../../../../policy/number-forms.ts';
import { SendLedger } from '../../../../policy/send-ledger.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

const [LID, NUMBER] = ['123456@lid', '+33612345678'];

type Addresses = { readonly from: string; readonly lid?: string };

const HIDDEN: Addresses = { from: LID, lid: LID };
const NAMED: Addresses = { from: NUMBER, lid: LID };

class Hidden {
  shop: ShopHarness;
  #count = 0;

  private constructor(shop: ShopHarness) {
    this.shop = shop;
  }

  /** A shop that gets texts. A person wrote to it without a number. */
  static async start(kind: 'text' | 'reaction' = 'text'): Promise<Hidden> {
    const shop = await ShopHarness.connected();
    shop.command({ type: 'tenant_inbound', inbound: 'texts' });
    const person = new Hidden(shop);
    await person.write(HIDDEN, kind === 'text' ? 'hello' : '', kind);
    return person;
  }

  async write(addresses: Addresses, text: string, kind: 'text' | 'reaction' = 'text'): Promise<void> {
    this.shop.nowMs += 1_000;
    this.#count += 1;
    await this.shop.ask({
      ...{ type: 'session.inbound', token: 't', wireId: `W${this.#count}`, atMs: this.shop.nowMs, text },
      ...{ generation: this.shop.state.channel.context.generation, ...addresses },
      content: { kind, text, name: null, quotes: null, media: null },
    });
  }

  /**
   * The shop connects a number that another shop had before. That shop may know the number of the LID, and an address
   * that opted out there. It may have sent to the number.
   */
  async takeOver(known: {
    readonly isLinked: boolean;
    readonly optedOut?: string;
    readonly sentAtMs?: number;
  }): Promise<void> {
    const { nowMs, redis, state } = this.shop;
    const { shard, shop } = state;
    const [shopId, phone] = ['65f0000000000000000000ff', '33600000002'];
    const { accepted, writers, aliases } = shopKeys(shard, shopId);
    redis.run(numberUseWrite(shop.tenantId, phone, { shopId, left: { atMs: nowMs, warmupSinceMs: null } }));
    const linkedFields = [LID, aliasField(recipientKey(LID))].flatMap((field) => [field, NUMBER]);
    if (known.isLinked) redis.run(['HSET', aliases, ...linkedFields]);
    const stop = { lastInboundAtMs: nowMs, stampMs: nowMs, optedOut: true, wireIds: [] };
    if (known.optedOut !== undefined) redis.run(['HSET', writers, known.optedOut, JSON.stringify(stop)]);
    if (known.sentAtMs !== undefined) {
      const to = { subject: recipientKey(NUMBER), fingerprint: { high: 0, low: 0 } };
      redis.run(['RPUSH', accepted, encodeEntry({ kind: 'known', atMs: known.sentAtMs, ...to })]);
    }
    this.shop.command({ type: 'disconnect' });
    this.shop.command({ type: 'connect' });
    const { generation } = this.shop.state.channel.context;
    await this.shop.ask({ type: 'session.connected', generation, phone, pairedAtMs: nowMs });
  }

  /** An erasure of the person found the network id unused, and removed it. Their later messages stay. */
  forgetId(): void {
    const { redis, state } = this.shop;
    redis.run(['HDEL', state.keys.aliases, LID]);
  }

  /** Replies to what they wrote without a number. Returns the message's id, or the code of the refusal. */
  reply(): Promise<string> {
    const reply = { inboundId: 'a'.repeat(24), toId: 'x' };
    return this.#send({ ...textDraft(LID, `reply ${this.#count}`), reply });
  }

  /** Sends to the number. */
  send(): Promise<string> {
    return this.#send(textDraft(NUMBER, `send ${this.#count}`));
  }

  async #send(draft: MessageDraft): Promise<string> {
    this.#count += 1;
    const settings = resolveSettings({});
    const command = { type: 'send', settings, pool: undefined, draft } as const;
    const reply = (await this.shop.ask(command)) as
      | { readonly ok: true; readonly value: { readonly accepted: { readonly id: string } } }
      | { readonly ok: false; readonly failure: { readonly code: string } };
    return reply.ok ? reply.value.accepted.id : reply.failure.code;
  }
}

for (const kind of ['text', 'reaction'] as const) {
  test(`a STOP with the number refuses a reply to a ${kind} without one, also after a restart`, async () => {
    const person = await Hidden.start(kind);
    await person.write(NAMED, 'STOP');
    assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
    const { shop } = person;
    person.shop = await shop.successor('store');
    assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
    person.shop = shop;
    await person.write(HIDDEN, 'hello again');
    assert.match(await person.reply(), /^[0-9a-f]{24}$/);
  });
}

test('a STOP with the number rejects a reply that waits or is being prepared', async () => {
  for (const isPrepared of [false, true]) {
    const person = await Hidden.start();
    const { shop } = person;
    const messageId = await person.reply();
    if (isPrepared) shop.passFirstLook(messageId);
    await person.write(NAMED, 'STOP');
    if (!isPrepared) await shop.ask({ type: 'first_look', messageId });
    assert.equal(shop.statusOf(messageId), 'rejected RECIPIENT_OPTED_OUT');
  }
});

test('a STOP with the number refuses a reply to what 0.2.0 stored under the id alone', async () => {
  const person = await Hidden.start();
  const { redis, state } = person.shop;
  redis.run(['HDEL', state.keys.aliases, LID]);
  await person.write(NAMED, 'STOP');
  assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
});

test('a STOP with the number refuses a reply to a reaction whose id an erasure removed, and to a later one', async () => {
  for (const isAtPool of [false, true]) {
    const person = await Hidden.start('reaction');
    const { shop } = person;
    person.forgetId();
    if (isAtPool) await shop.ask({ type: 'pool.opt_out', ...NAMED, wireId: 'P', atMs: shop.nowMs });
    else await person.write(NAMED, 'STOP');
    assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
    person.shop = await shop.successor('store');
    await person.write(HIDDEN, '', 'reaction');
    assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
  }
});

test('a STOP from the number alone refuses that reply once the network names both addresses', async () => {
  const person = await Hidden.start('reaction');
  person.forgetId();
  await person.write({ from: NUMBER }, 'STOP');
  await person.write(NAMED, '', 'reaction');
  assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
});

test('a STOP with the number rejects a reply that was accepted before an erasure removed the id', async () => {
  const person = await Hidden.start('reaction');
  const { shop } = person;
  const messageId = await person.reply();
  person.forgetId();
  await person.write(NAMED, 'STOP');
  await shop.ask({ type: 'first_look', messageId });
  assert.equal(shop.statusOf(messageId), 'rejected RECIPIENT_OPTED_OUT');
});

test('a reply counts for the number also if an erasure removed the id since', async () => {
  const person = await Hidden.start('reaction');
  const { shop } = person;
  await person.reply();
  person.forgetId();
  shop.nowMs += MINUTE_MS;
  await person.write(NAMED, '', 'reaction');
  assert.equal(await person.send(), 'RECIPIENT_RATE_LIMITED');
});

test('a reply that waits or is in progress is linked to the number also if the ledger was replaced', async () => {
  for (const isWaiting of [false, true]) {
    const person = await Hidden.start('reaction');
    const { shop } = person;
    await person.reply();
    if (isWaiting) shop.command({ type: 'pause' });
    person.forgetId();
    shop.state = changedShop(shop.state, { ledger: new SendLedger() });
    await person.write(NAMED, 'hello');
    const { currentMessage, queue } = shop.state;
    const messages = isWaiting ? queue : [currentMessage];
    assert.deepEqual(
      messages.map((message) => message && addressee(message)),
      [NUMBER],
    );
  }
});

test('a STOP to a shop of the pool, which sent for this one, refuses a reply, too', async () => {
  const person = await Hidden.start();
  const { shop } = person;
  await shop.ask({ type: 'pool.opt_out', ...NAMED, wireId: 'P', atMs: shop.nowMs });
  assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
});

test('once the number is known a reply goes to it, and its limits apply', async () => {
  const person = await Hidden.start();
  const { shop } = person;
  const waiting = await person.reply();
  await person.write(NAMED, 'hello');
  shop.effects.length = 0;
  await shop.ask({ type: 'first_look', messageId: waiting });
  const [prepare] = shop.effectsOf('prepare');
  assert.deepEqual([prepare?.order.to, shop.bodies.get(waiting)?.to], [NUMBER, LID]);
  // They wrote since, so one more message may follow at once, to either address.
  assert.equal(shop.bodies.get(await person.reply())?.to, NUMBER);
  assert.deepEqual(
    [await person.send(), await person.reply()],
    ['RECIPIENT_RATE_LIMITED', 'RECIPIENT_RATE_LIMITED'],
  );
});

test('a reply that was sent before the number was known counts for it, at once and after a restart', async () => {
  const person = await Hidden.start();
  const { shop } = person;
  await person.reply();
  shop.nowMs += 60_000;
  await person.write(NAMED, '', 'reaction');
  assert.equal(await person.send(), 'RECIPIENT_RATE_LIMITED');
  person.shop = await shop.successor('store');
  assert.equal(await person.send(), 'RECIPIENT_RATE_LIMITED');
});

for (const before of ['a text', 'a reaction', 'an erasure'] as const) {
  test(`the look-up of a send links the id after ${before}, and a reply that was sent to the id counts in that check`, async () => {
    const person = await Hidden.start(before === 'a text' ? 'text' : 'reaction');
    const { shop } = person;
    const replyId = await person.reply();
    if (before === 'an erasure') person.forgetId();
    shop.toWire(replyId);
    shop.outcome(replyId, { kind: 'acknowledged' });
    shop.pass(MINUTE_MS);
    const messageId = await person.send();
    assert.match(messageId, /^[0-9a-f]{24}$/);
    shop.passFirstLook(messageId);
    const { generation } = shop.state.channel.context;
    await shop.ask({ type: 'session.prepared', generation, messageId, lid: LID, writes: [] });
    assert.equal(shop.statusOf(messageId), 'rejected RECIPIENT_RATE_LIMITED');
  });
}

test('a STOP under the former number of a person stays in force when their id comes with another number', async () => {
  const person = await Hidden.start();
  await person.write(NAMED, 'hello');
  await person.write(HIDDEN, 'STOP');
  await person.write({ from: '+33699999999', lid: LID }, '', 'reaction');
  assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
});

test('a number from another shop brings the number of a LID, and its STOP refuses a reply to the LID', async () => {
  const person = await Hidden.start();
  await person.takeOver({ isLinked: true, optedOut: NUMBER });
  assert.equal(await person.reply(), 'RECIPIENT_OPTED_OUT');
});

test('a number from another shop brings the number of a LID, and a reply to the LID counts for it', async () => {
  const person = await Hidden.start();
  await person.reply();
  await person.takeOver({ isLinked: true });
  assert.equal(await person.send(), 'RECIPIENT_RATE_LIMITED');
});

test('a reply to the LID waits while a number from another shop brings its number, whose counts apply to it', async () => {
  const person = await Hidden.start('reaction');
  const { shop } = person;
  const messageId = await person.reply();
  await person.takeOver({ isLinked: true, sentAtMs: shop.nowMs - MINUTE_MS });
  await shop.ask({ type: 'first_look', messageId });
  assert.equal(shop.statusOf(messageId), 'rejected RECIPIENT_RATE_LIMITED');
});

test('a STOP under a LID counts for its number if the shop that takes a number over knows it', async () => {
  const person = await Hidden.start();
  await person.write(NAMED, 'hello');
  await person.takeOver({ isLinked: false, optedOut: LID });
  assert.equal(await person.send(), 'RECIPIENT_OPTED_OUT');
});

test('a STOP under a LID counts for its number if that comes with a number of another shop', async () => {
  const person = await Hidden.start();
  await person.write(HIDDEN, 'STOP');
  await person.takeOver({ isLinked: true });
  assert.equal(await person.send(), 'RECIPIENT_OPTED_OUT');
});

test('a person who always came with both addresses costs no entry for the second one', async () => {
  const shop = await ShopHarness.connected();
  const { generation } = shop.state.channel.context;
  const said = { type: 'session.inbound', generation, token: 't', atMs: shop.nowMs, text: 'hello' } as const;
  await shop.ask({ ...said, wireId: 'W', ...NAMED });
  assert.deepEqual(shop.redis.run(['HGETALL', shop.state.keys.aliases]), []);
});
