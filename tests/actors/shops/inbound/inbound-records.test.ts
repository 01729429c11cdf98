/** Inbound messages and their writers in Redis: sealed, through a change of keys, and deleted in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetPeople } from '../../../../actors/shops/effects/person-memory.ts';
import { eraseInbound, inboundAmong } from '../../../../actors/shops/erasure/inbound-eraser.ts';
import {
  inboundKey,
  inboundWrite,
  readInboundRecords,
} from '../../../../actors/shops/records/inbound-records.ts';
import { dayOf } from '../../../../actors/shops/records/message-days.ts';
import { type NumberVault, numberVault } from '../../../../actors/shops/records/number-vault.ts';
import { readPerson } from '../../../../actors/shops/records/person-ids.ts';
import { personEntry } from '../../../../actors/tenants/person-entry.ts';
import { tenantAddress, tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../../runtime/object-id.ts';
import { systemRandom } from '../../../../runtime/random.ts';
import { plainStore } from '../../../http/service-fixture.ts';
import { sharedRedis } from '../../../testbed/shared-redis.ts';

const nowMs = Date.parse('2026-03-01T08:00:00Z');
const newId = objectIdGenerator(systemRandom);
const [formerBytes, presentBytes] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const ANA = { number: '+33612345678', lid: '123456@lid' };

const { redis } = sharedRedis();

const store = plainStore(redis);

const SHARD = 3;

async function stored(vault: NumberVault, fromId: string, shopId = newId(nowMs)): Promise<string> {
  const id = newId(nowMs);
  const record = {
    id,
    tenantId: newId(nowMs),
    shopId,
    fromId,
    from: ANA.number,
    lid: ANA.lid,
    name: 'Ana Bakerwoman',
    atMs: nowMs,
    text: 'where is my bread',
    replyTo: null,
    wireId: 'W1',
    media: null,
    kind: 'text' as const,
  };
  await store.commit(SHARD, [
    inboundWrite(SHARD, record, vault),
    ['ZADD', `{s${SHARD}}:index:${shopId}`, 0, id],
  ]);
  return id;
}

async function person(
  tenantId: string,
  vault: NumberVault,
  addresses: { readonly number: string | undefined; readonly lid: string | undefined } = ANA,
  atMs = nowMs,
): Promise<string> {
  const knownPerson = await readPerson(tenantId, addresses, { store, vault, nowMs: atMs });
  await store.commit(SHARD, knownPerson.writes);
  return knownPerson.id;
}

test('Redis holds no part of a message in the clear: no text, name, number or address', async () => {
  const vault = numberVault([presentBytes]);
  const fromId = await person(newId(nowMs), vault);
  await stored(vault, fromId);
  const words = ['bread', 'Bakerwoman', ANA.number.slice(1), ANA.lid];
  for (const key of await redis.keys('*')) {
    const dump = (await redis.dumpBuffer(key))?.toString('latin1') ?? '';
    assert.deepEqual(
      words.filter((word) => key.includes(word) || dump.includes(word)),
      [],
      key,
    );
  }
});

test('a record that a former key sealed is read as long as that key is configured, and counts as gone without it', async () => {
  const fromId = 'kX3vQm0yT1nB7hZcW9sRfA';
  const ids = [
    await stored(numberVault([formerBytes]), fromId),
    await stored(numberVault([presentBytes, formerBytes]), fromId),
  ];
  const textsWith = async (secrets: readonly Buffer[]) => {
    const found = await readInboundRecords(SHARD, ids, { store, vault: numberVault(secrets) });
    return found.map((inbound) => inbound?.record.text);
  };
  assert.deepEqual(await textsWith([presentBytes, formerBytes]), ['where is my bread', 'where is my bread']);
  assert.deepEqual(await textsWith([presentBytes]), [undefined, 'where is my bread']);
});

test('a person keeps their id through a change of keys, once they wrote while both were configured', async () => {
  const tenantId = newId(nowMs);
  const id = await person(tenantId, numberVault([formerBytes]));
  assert.equal(await person(tenantId, numberVault([presentBytes, formerBytes])), id);
  assert.equal(await person(tenantId, numberVault([presentBytes])), id);
});

test('people whose last message has expired are forgotten, and all others keep their id', async () => {
  const tenantId = newId(nowMs);
  const vault = numberVault([presentBytes]);
  const { personIds } = tenantKeys(tenantId);
  const today = dayOf(nowMs);
  const others: string[] = [];
  const [silent, lively] = [{ ...ANA }, { number: '+33612345679', lid: '99@lid' }];
  await person(tenantId, vault, silent, nowMs - 32 * DAY_MS);
  // By the network's own id first: it would be another id once it was forgotten.
  const id = await person(tenantId, vault, { number: undefined, lid: lively.lid }, nowMs - 32 * DAY_MS);
  for (let other = 0; other < 2_000; other += 1)
    others.push(`digest ${other}`, personEntry('gone', today - 40));
  await redis.hset(personIds, ...others);
  assert.equal(await person(tenantId, vault, lively), id);
  await forgetPeople(store, tenantId, { oldestDay: today - 31, today });
  assert.equal(await redis.hlen(personIds), 3, 'two addresses, and when it was looked');
  assert.equal(await person(tenantId, vault, lively), id);
  // Once a day is enough, however many shops ask.
  await person(tenantId, vault, silent, nowMs - 32 * DAY_MS);
  await forgetPeople(store, tenantId, { oldestDay: today - 31, today });
  assert.equal(await redis.hlen(personIds), 5);
  await forgetPeople(store, tenantId, { oldestDay: today - 30, today: today + 1 });
  assert.equal(await redis.hlen(personIds), 3);
});

test('after a smaller retention people are forgotten once the days on which they wrote are gone', async () => {
  const tenantId = newId(nowMs);
  const vault = numberVault([presentBytes]);
  const { personIds } = tenantKeys(tenantId);
  const { shard } = tenantAddress(tenantId);
  const today = dayOf(nowMs);
  const ana = await person(tenantId, vault, ANA, nowMs - 10 * DAY_MS);
  const silent = { number: '+33612345679', lid: undefined };
  const other = await person(tenantId, vault, silent, nowMs - 11 * DAY_MS);
  await redis.hset(inboundKey(shard, today - 10), 'an id', 'its record');
  const isKnown = async (id: string) => (await redis.hexists(personIds, id)) === 1;
  await forgetPeople(store, tenantId, { oldestDay: today - 3, today });
  assert.deepEqual([await isKnown(ana), await isKnown(other)], [true, false]);
  await redis.del(inboundKey(shard, today - 10));
  await forgetPeople(store, tenantId, { oldestDay: today - 2, today: today + 1 });
  assert.equal(await isKnown(ana), false);
});

test('an id stays among the people as long as any of its addresses, so that its person can be found to be erased', async () => {
  const tenantId = newId(nowMs);
  const vault = numberVault([presentBytes]);
  const { personIds } = tenantKeys(tenantId);
  const today = dayOf(nowMs);
  const { number, lid } = ANA;
  // The network's own id of them is the first, and later it sends the number alone.
  const id = await person(tenantId, vault, { number: undefined, lid }, nowMs - 60 * DAY_MS);
  assert.equal(await person(tenantId, vault, ANA, nowMs - 59 * DAY_MS), id);
  assert.equal(await person(tenantId, vault, { number, lid: undefined }), id);
  await forgetPeople(store, tenantId, { oldestDay: today - 31, today });
  assert.notEqual(await redis.hget(personIds, id), null);
  const { writes } = await readPerson(tenantId, { number, lid: undefined }, { store, vault, nowMs });
  assert.deepEqual(writes, [], 'once a day is enough');
});

test('a person with two ids, because nothing linked their addresses, keeps the one of the number', async () => {
  const tenantId = newId(nowMs);
  const vault = numberVault([presentBytes]);
  const ofLid = await person(tenantId, vault, { number: undefined, lid: ANA.lid });
  const ofNumber = await person(tenantId, vault, { number: ANA.number, lid: undefined });
  assert.notEqual(ofLid, ofNumber);
  const { id, ids, writes } = await readPerson(tenantId, ANA, { store, vault, nowMs });
  assert.equal(id, ofNumber);
  assert.ok(ids.includes(ofLid), 'an erasure finds the events of both');
  await store.commit(SHARD, writes);
  assert.equal(await person(tenantId, vault, { number: undefined, lid: ANA.lid }), ofNumber);
});

test('people without a day, of 0.2.0, count as seen on the day of the first check', async () => {
  const tenantId = newId(nowMs);
  const { personIds } = tenantKeys(tenantId);
  const today = dayOf(nowMs);
  await redis.hset(personIds, 'digest', 'someone');
  await forgetPeople(store, tenantId, { oldestDay: today - 31, today });
  assert.equal(await redis.hget(personIds, 'digest'), personEntry('someone', today));
  await forgetPeople(store, tenantId, { oldestDay: today + 1, today: today + 32 });
  assert.equal(await redis.hget(personIds, 'digest'), null);
});

test('a check of the people of an erased tenant leaves nothing behind', async () => {
  const tenantId = newId(nowMs);
  await forgetPeople(store, tenantId, { oldestDay: 1, today: 32 });
  assert.equal(await redis.exists(tenantKeys(tenantId).personIds), 0);
});

test('the messages of one person are erased from a shop, however many there are', async () => {
  const vault = numberVault([presentBytes]);
  const shopId = newId(nowMs);
  const index = `{s${SHARD}}:index:${shopId}`;
  const kept: string[] = [];
  const erased: string[] = [];
  for (let message = 0; message < 220; message += 1) {
    if (message % 2 === 0) erased.push(await stored(vault, 'gone', shopId));
    else kept.push(await stored(vault, 'stays', shopId));
  }
  for await (const step of inboundAmong({ shard: SHARD, index }, ({ fromId }) => fromId === 'gone', store))
    await eraseInbound(SHARD, step, store);
  assert.deepEqual(await redis.zrange(index, '0', '-1'), kept.toSorted());
  const found = await readInboundRecords(SHARD, [...erased, ...kept], { store, vault });
  assert.deepEqual(
    found.map((inbound) => inbound === undefined),
    [...erased.map(() => true), ...kept.map(() => false)],
  );
});
