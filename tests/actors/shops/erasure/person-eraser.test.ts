/** An erasure of a person finds all that is stored of them, and misses nothing where it stopped half way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageEraser } from '../../../../actors/shops/erasure/message-eraser.ts';
import { PersonEraser } from '../../../../actors/shops/erasure/person-eraser.ts';
import { NO_CONTENT } from '../../../../actors/shops/message-content.ts';
import { inboundWrite } from '../../../../actors/shops/records/inbound-records.ts';
import { bodyWrite, dayOf, readMessage, stateWrite } from '../../../../actors/shops/records/message-days.ts';
import type { MessageBody } from '../../../../actors/shops/records/message-record.ts';
import { numberVault } from '../../../../actors/shops/records/number-vault.ts';
import { readPerson } from '../../../../actors/shops/records/person-ids.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import { tenantAddress, tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { encodeEntry } from '../../../../policy/ledger-entry.ts';
import { recipientKey } from '../../../../policy/number-forms.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../../runtime/object-id.ts';
import { systemRandom } from '../../../../runtime/random.ts';
import type { Store, Write } from '../../../../runtime/store.ts';
import { plainStore } from '../../../http/service-fixture.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { sharedRedis } from '../../../testbed/shared-redis.ts';

const ANA = '+33612345678';
const BEA = '+33612345679';
const newId = objectIdGenerator(systemRandom);
const vault = numberVault([Buffer.alloc(32, 1)]);
const clock = new FakeClock();
const nowMs = clock.wallMs();

const { redis } = sharedRedis();

const plain = plainStore(redis) as Store;

/** `HDELIF` is the runtime's own command. No other process changes the field here. */
const store: Store = {
  ...plain,
  commit: (shard, writes) =>
    plain.commit(
      shard,
      writes.map(([name, key, ...args]): Write => [name === 'HDELIF' ? 'HDEL' : name, key, ...args]),
    ),
};

const retentionMs = 30 * DAY_MS;

function eraser(
  forgetChanges: (personId: string) => Promise<void> = async () => undefined,
  from: Store = store,
): PersonEraser {
  const actors = { ask: async () => undefined, owns: () => true } as unknown as ConstructorParameters<
    typeof PersonEraser
  >[0]['actors'];
  const messages = new MessageEraser({ store, clock, retentionMs });
  return new PersonEraser({ actors, store: from, clock, vault, messages, forgetChanges, retentionMs });
}

/** The tenant hears from somebody under these addresses; answers their id. */
async function heard(
  tenantId: string,
  addresses: { readonly number?: string; readonly lid?: string },
): Promise<string> {
  const { number, lid } = addresses;
  const knownPerson = await readPerson(tenantId, { number, lid }, { store, vault, nowMs });
  await store.append(knownPerson.writes);
  return knownPerson.id;
}

/** Stores a message that was sent, where messages of the first tenant are; answers its id. */
async function wrote(at: string, to: string, atMs: number, tenantId = at): Promise<string> {
  const { shard } = tenantAddress(at);
  // A generator of its own: the ids of one rise with time.
  const id = objectIdGenerator(systemRandom)(atMs);
  const body: MessageBody = {
    id,
    tenantId,
    shopId: newId(nowMs),
    kind: 'message',
    to,
    ...NO_CONTENT,
    text: 'Hello',
    via: 'shop',
    policy: null,
    createdAtMs: atMs,
    wireId: 'W',
    idempotencyKey: 'k',
    requestId: null,
    traceparent: null,
    reply: undefined,
    batchId: undefined,
  };
  const state = { status: 'sent', reason: null, updatedAtMs: atMs, sentAtMs: atMs } as const;
  await store.append([bodyWrite(shard, dayOf(atMs), body), stateWrite(shard, id, state)]);
  return id;
}

test('messages to the person lose their text also if no list names them, since messages were kept for longer before', async () => {
  const tenantId = newId(nowMs);
  const { shard } = tenantAddress(tenantId);
  const longAgoMs = nowMs - 40 * DAY_MS;
  const personId = await heard(tenantId, { number: ANA });
  const toAna = await wrote(tenantId, ANA, longAgoMs);
  const ofOthers = await wrote(tenantId, ANA, longAgoMs, newId(nowMs));
  const toBea = await wrote(tenantId, BEA, longAgoMs);
  await eraser().erase({ tenantId, personId, shopIds: [] });
  const body = (await readMessage(shard, toAna, store))?.body;
  assert.deepEqual([body?.to, body?.text, body?.idempotencyKey], [null, null, 'k']);
  for (const id of [toBea, ofOthers]) assert.equal((await readMessage(shard, id, store))?.body.text, 'Hello');
});

test('all ids of the person leave the log of changes, also if the erasure stopped there and is repeated', async () => {
  const tenantId = newId(nowMs);
  const lid = '123@lid';
  const byLid = await heard(tenantId, { lid });
  const personId = await heard(tenantId, { number: ANA });
  await heard(tenantId, { number: ANA, lid });
  const forgotten = new Set<string>();
  let isAway = true;
  const people = eraser(async (id) => {
    if (isAway) throw new Error('Redis is away');
    forgotten.add(id);
  });
  const person = { tenantId, personId, shopIds: [] };
  await assert.rejects(people.erase(person));
  isAway = false;
  await people.erase(person);
  assert.deepEqual(forgotten, new Set([personId, byLid]));
});

test('a network id under which the person only reacted is gone, and one with a text, a message or a number stays', async () => {
  const tenantId = newId(nowMs);
  const { shard } = tenantAddress(tenantId);
  const [lid, ofBea] = ['123@lid', '456@lid'];
  const personId = await heard(tenantId, { lid });
  const shop = () => {
    const id = newId(nowMs);
    return { id, ...shopKeys(shard, id) };
  };
  const [reacted, answeredBefore, answered, wrote, linked] = [shop(), shop(), shop(), shop(), shop()];
  const unreadable = shop();
  const shops = [reacted, answeredBefore, answered, wrote, linked, unreadable];
  for (const { aliases } of shops) await redis.hset(aliases, { [lid]: lid, [ofBea]: ofBea });
  const sendAt = (atMs: number): string =>
    encodeEntry({ kind: 'known', atMs, subject: recipientKey(lid), fingerprint: { high: 0, low: 0 } });
  await redis.rpush(answeredBefore.accepted, sendAt(nowMs - DAY_MS));
  await redis.rpush(answered.accepted, sendAt(nowMs - DAY_MS + 1));
  await redis.hset(wrote.writers, lid, '{}');
  await redis.hset(linked.aliases, lid, ANA);
  await redis.rpush(unreadable.accepted, 'nothing that an entry is');
  await eraser().erase({ tenantId, personId, shopIds: shops.map(({ id }) => id) });
  const left = await Promise.all(shops.map(({ aliases }) => redis.hmget(aliases, lid, ofBea)));
  assert.deepEqual(
    left,
    [null, null, lid, lid, ANA, lid].map((alias) => [alias, ofBea]),
  );
});

test('opt-outs of the person leave the events in both forms of their number, and those of others stay', async () => {
  const tenantId = newId(nowMs);
  const { shard } = tenantAddress(tenantId);
  const { events } = tenantKeys(tenantId);
  const shopId = newId(nowMs);
  const [short, long] = ['+553196348800', '+5531996348800'];
  const personId = await heard(tenantId, { number: long });
  await redis.hset(shopKeys(shard, shopId).writers, long, '{}');
  for (const phone of [short, BEA, long])
    await redis.xadd(events, '*', 't', 'recipient.opted_out', 's', shopId, 'd', JSON.stringify({ phone }));
  await eraser().erase({ tenantId, personId, shopIds: [shopId] });
  const left = await redis.xrange(events, '-', '+');
  assert.deepEqual(
    left.map(([, fields]) => fields.at(-1)),
    [JSON.stringify({ phone: BEA })],
  );
});

/** The person writes to the shop; answers the id of the message. */
async function wroteTo(tenantId: string, shopId: string, fromId: string): Promise<string> {
  const { shard } = tenantAddress(tenantId);
  const id = newId(nowMs);
  const record = {
    ...{ id, tenantId, shopId, fromId, from: null, lid: null, name: null, atMs: nowMs },
    ...{ kind: 'text' as const, text: 'Hello', replyTo: null, media: null, wireId: 'W' },
  };
  await store.append([
    inboundWrite(shard, record, vault),
    ['ZADD', shopKeys(shard, shopId).inbound, 0, id],
    ['XADD', tenantKeys(tenantId).events, '*', 't', 'message.received', 's', shopId, 'd', id],
  ]);
  return id;
}

test('events about the person’s messages leave the stream, also if the erasure stopped and is repeated', async () => {
  const tenantId = newId(nowMs);
  const { shard } = tenantAddress(tenantId);
  const { events } = tenantKeys(tenantId);
  const shopIds = [newId(nowMs), newId(nowMs)];
  const ana = await heard(tenantId, { lid: '123@lid' });
  const bea = await heard(tenantId, { number: BEA });
  const byBea: string[] = [];
  for (let message = 0; message < 60; message += 1) {
    for (const shopId of shopIds) {
      await wroteTo(tenantId, shopId, ana);
      byBea.push(await wroteTo(tenantId, shopId, bea));
    }
  }
  const person = { tenantId, personId: ana, shopIds };
  const killed = async (): Promise<never> => {
    throw new Error('killed');
  };
  let steps = 0;
  const append: Store['append'] = async (writes) => {
    steps += 1;
    return steps === 3 ? killed() : store.append(writes);
  };
  // It stops among the events, then before the first message is erased.
  await assert.rejects(eraser(undefined, { ...store, append }).erase(person));
  await assert.rejects(eraser(undefined, { ...store, commit: killed }).erase(person));
  await eraser().erase(person);
  const left = await redis.xrange(events, '-', '+');
  assert.deepEqual(
    left.map(([, fields]) => fields.at(-1)),
    byBea,
  );
  const listed = await Promise.all(shopIds.map((id) => redis.zrange(shopKeys(shard, id).inbound, '0', '-1')));
  assert.deepEqual(listed.flat().toSorted(), byBea.toSorted());
});

test('older messages, whose events are gone, take no passes over the events', async () => {
  const tenantId = newId(nowMs);
  const { shard } = tenantAddress(tenantId);
  const { events } = tenantKeys(tenantId);
  const shopId = newId(nowMs);
  const ana = await heard(tenantId, { lid: '123@lid' });
  const bea = await heard(tenantId, { number: BEA });
  // Redis' clock was ahead: the messages seem older than all events.
  await redis.xadd(events, '2000000000000-0', 't', 'queue.paused', 's', shopId, 'd', '{}');
  for (let message = 0; message < 1_100; message += 1) await wroteTo(tenantId, shopId, ana);
  await redis.xtrim(events, 'MAXLEN', 20);
  // Several reads reach the last of Ana’s events.
  const byBea: string[] = [];
  for (let message = 0; message < 600; message += 1) byBea.push(await wroteTo(tenantId, shopId, bea));
  await wroteTo(tenantId, shopId, ana);
  let steps = 0;
  const append: Store['append'] = (writes) => {
    steps += 1;
    return store.append(writes);
  };
  await eraser(undefined, { ...store, append }).erase({ tenantId, personId: ana, shopIds: [shopId] });
  const left = await redis.xrange(events, '-', '+');
  assert.deepEqual(
    left.map(([, fields]) => fields.at(-1)),
    byBea,
  );
  // 621 events in steps of fifty, once. The 1,101 messages would take three such passes.
  assert.equal(steps, 13);
  assert.deepEqual(await redis.zrange(shopKeys(shard, shopId).inbound, '0', '-1'), byBea.toSorted());
});
