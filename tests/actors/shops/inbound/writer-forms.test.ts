/**
 * A person whose number has two forms and who writes from both is one person, and the latest message counts. The policy
 * and the events agree.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArchive } from '../../../../actors/shops/number-past/number-archive.ts';
import { numbersLeft } from '../../../../actors/shops/number-past/numbers-left.ts';
import type { ShopCommand } from '../../../../actors/shops/protocol/shop-commands.ts';
import { readWriter } from '../../../../actors/shops/reading/recipient-facts.ts';
import { decodeWriters } from '../../../../actors/shops/records/writer.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { ShopHarness, vault } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

const COUNTRIES = [
  ['Brazil', '+553196348800', '+5531996348800'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Argentina', '+541123456789', '+5491123456789'],
] as const;
const [, SHORT, LONG] = COUNTRIES[0];
const SHOP_PHONE = '33600000001';

/** A shop that people write to: what comes is looked up and taken as its actor does. */
class WrittenTo {
  readonly shop: ShopHarness;
  #count = 0;

  constructor(shop: ShopHarness) {
    this.shop = shop;
    shop.writes.length = 0;
  }

  static async start(): Promise<WrittenTo> {
    return new WrittenTo(await ShopHarness.connected());
  }

  /** `agoMs`: how long before now the network stamped it. */
  write(from: string, text: string, agoMs = 0): Promise<void> {
    this.shop.nowMs += 1_000;
    const { generation } = this.shop.state.channel.context;
    return this.#take({
      type: 'session.inbound',
      generation,
      token: 't',
      text,
      ...this.#message(from, agoMs),
    });
  }

  /** A person opts out in answer to a message of the pool. */
  stopAtPool(from: string): Promise<void> {
    this.shop.nowMs += 1_000;
    return this.#take({ type: 'pool.opt_out', ...this.#message(from, 0) });
  }

  /** Stores the record as 0.1.0 did, which kept one for each form. */
  stored(from: string, optedOut: boolean, atMs: number): void {
    const writer = { lastInboundAtMs: atMs, stampMs: atMs, optedOut, wireIds: [] };
    this.shop.redis.run(['HSET', this.shop.state.keys.writers, from, JSON.stringify(writer)]);
  }

  /** Returns the opt-outs that the policy uses for these numbers. */
  async optedOut(...numbers: readonly string[]): Promise<(boolean | undefined)[]> {
    const { state, redis } = this.shop;
    const found = numbers.map((to) => readWriter(state, { to }, storeOf(redis)));
    return (await Promise.all(found)).map(({ writer }) => writer?.optedOut);
  }

  /** The addresses that somebody is kept under. */
  kept(): string[] {
    const keptKeys = this.shop.redis.run(['HGETALL', this.shop.state.keys.writers]) as string[];
    return [...decodeWriters(keptKeys).keys()];
  }

  /** The events so far: type and number. */
  told(): string[] {
    const events = this.shop.writes.filter(([command]) => command === 'XADD');
    return events.map((event) => {
      const { phone } = JSON.parse(String(event[event.indexOf('d') + 1]));
      return `${event[event.indexOf('t') + 1]} ${phone}`;
    });
  }

  #message(from: string, agoMs: number) {
    return { from, wireId: `W${this.#count++}`, atMs: this.shop.nowMs - agoMs };
  }

  async #take(command: Exclude<ShopCommand, { readonly type: 'send' }>): Promise<void> {
    await this.shop.ask(command);
  }
}

for (const [country, short, long] of COUNTRIES) {
  test(`${country}: a person who opts out from one form and in from the other has opted in, with an event`, async () => {
    for (const [first, second] of [
      [short, long],
      [long, short],
    ] as const) {
      const person = await WrittenTo.start();
      await person.write(first, 'STOP');
      assert.deepEqual(await person.optedOut(short, long), [true, true]);
      await person.write(second, 'hello');
      assert.deepEqual(await person.optedOut(short, long), [false, false]);
      assert.deepEqual(person.told(), [`recipient.opted_out ${first}`, `recipient.opted_in ${second}`]);
      assert.deepEqual(person.kept(), [second]);
    }
  });
}

test('an opt-out from both forms has one event, also if the pool received the second', async () => {
  const person = await WrittenTo.start();
  await person.write(LONG, 'STOP');
  await person.write(SHORT, 'stop');
  await person.stopAtPool(LONG);
  assert.deepEqual(person.told(), [`recipient.opted_out ${LONG}`]);
  await person.write(SHORT, 'hello');
  await person.stopAtPool(LONG);
  assert.deepEqual(person.told().slice(1), [`recipient.opted_in ${SHORT}`, `recipient.opted_out ${LONG}`]);
  assert.deepEqual(await person.optedOut(SHORT, LONG), [true, true]);
});

test('an older message from the other form that comes late lifts no opt-out, and restores none', async () => {
  const person = await WrittenTo.start();
  await person.write(SHORT, 'STOP');
  await person.write(LONG, 'hello', 60_000);
  assert.deepEqual(await person.optedOut(SHORT, LONG), [true, true]);
  await person.write(LONG, 'hello again');
  await person.write(SHORT, 'STOP', 60_000);
  assert.deepEqual(await person.optedOut(SHORT, LONG), [false, false]);
  assert.deepEqual(person.told(), [`recipient.opted_out ${SHORT}`, `recipient.opted_in ${LONG}`]);
});

test('a message to one form that is being sent is stopped by an opt-out from the other, and by none that is lifted', async () => {
  for (const [lateMs, status] of [
    [0, 'rejected RECIPIENT_OPTED_OUT'],
    [60_000, 'queued'],
  ] as const) {
    const person = await WrittenTo.start();
    const { shop } = person;
    await person.write(LONG, 'hello');
    const messageId = shop.send(LONG);
    shop.passFirstLook(messageId);
    await person.write(SHORT, 'STOP', lateMs);
    assert.equal(shop.statusOf(messageId), status);
  }
});

test('the later of two records that are stored for one person is changed', async () => {
  for (const [ofShort, ofLong, told] of [
    [1_000, 2_000, []],
    [2_000, 1_000, [`recipient.opted_in ${LONG}`]],
  ] as const) {
    const person = await WrittenTo.start();
    person.stored(SHORT, true, ofShort);
    person.stored(LONG, false, ofLong);
    await person.write(LONG, 'hello');
    assert.deepEqual(person.told(), told);
    assert.deepEqual(person.kept(), [LONG]);
  }
});

test('an opt-out that was lifted from the other form is not kept after the shop is erased', async () => {
  const person = await WrittenTo.start();
  const { shop } = person;
  person.stored(SHORT, true, 1_000);
  person.stored(LONG, false, 2_000);
  person.stored('+33612345678', true, 1_000);
  const { state, redis, nowMs } = shop;
  const store = storeOf(redis);
  const number = { tenantId: state.shop.tenantId, phone: SHOP_PHONE };
  redis.run(['SET', tenantKeys(number.tenantId).record, JSON.stringify({ deleted: false })]);
  const { writes } = await numbersLeft(state.shop, { store, vault, nowMs });
  for (const write of writes) redis.run(write);
  const kept = await readArchive(number, vault, { store, nowMs });
  assert.deepEqual([...(kept?.past.writers.keys() ?? [])], ['+33612345678']);
});
