import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Receipts } from '../../actors/session/worker-thread/receipts.ts';
import { Deadlines } from '../../runtime/deadlines.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

test('receipts of several shops are told at one moment, each shop at most once at it', async () => {
  const clock = new FakeClock();
  const shared = new Deadlines<() => void>(clock, 250, (act) => act());
  const told: string[] = [];
  const receiptsOf = (shop: string): Receipts =>
    new Receipts({
      ownAddresses: () => [],
      numberOf: async () => undefined,
      isOutside: () => false,
      orderedAs: (wireId) => wireId,
      isPending: () => false,
      atSharedMoment: (act) => void shared.add(act, 0),
      onceLate: (act) => void clock.after(10_000, act),
      generation: 1,
      report: (_token, receipts) =>
        told.push(`${clock.monotonicMs()} ${shop} ${receipts.map(({ wireId }) => wireId).join(' ')}`),
    });
  const one = receiptsOf('one');
  const other = receiptsOf('other');
  const receipt = (id: string) => ({
    tag: 'receipt',
    attrs: { id, from: '33622222222@s.whatsapp.net', t: '1' },
  });
  await clock.advance(10);
  void one.received(receipt('A'));
  await clock.advance(100);
  void one.received(receipt('B'));
  void other.received(receipt('C'));
  await clock.advance(1_000);
  assert.deepEqual(told, ['1250 one A B', '1250 other C']);
});

test('devices of our own and who is no member of the group say nothing of a message', async () => {
  const own = '33600000000@s.whatsapp.net';
  const member = '33611111111@s.whatsapp.net';
  const outsider = '33622222222@s.whatsapp.net';
  const group = '120363000000000001@g.us';
  const told: string[] = [];
  const receipts = new Receipts({
    ownAddresses: () => [own],
    numberOf: async () => undefined,
    isOutside: (_, addresses) => addresses.includes(outsider),
    orderedAs: (wireId) => wireId,
    isPending: () => false,
    atSharedMoment: (act) => act(),
    onceLate: () => undefined,
    generation: 1,
    report: (token, some) => {
      told.push(...some.map(({ from, kind }) => `${from} ${kind}`));
      receipts.confirm(token);
    },
  });
  for (const participant of [own, outsider, member, '33600000000:7@s.whatsapp.net']) {
    await receipts.received({ tag: 'receipt', attrs: { id: 'A', from: group, participant, type: 'read' } });
  }
  assert.deepEqual(told, ['+33611111111 read']);
});

test('a stanza is let go once all of its words are committed, however late, at once where nothing comes of it, and never where it is too much', async () => {
  const clock = new FakeClock();
  const told: { token: string; wireIds: string[] }[] = [];
  const pending = new Set(['B']);
  const receipts = new Receipts({
    ownAddresses: () => ['33611111111@s.whatsapp.net'],
    numberOf: async () => undefined,
    isOutside: () => false,
    orderedAs: (wireId) => wireId,
    isPending: (wireId) => pending.has(wireId),
    atSharedMoment: (act) => void clock.after(250, act),
    onceLate: (act) => void clock.after(10_000, act),
    generation: 7,
    report: (token, words) => void told.push({ token, wireIds: words.map(({ wireId }) => wireId) }),
  });
  const letGo: string[] = [];
  const arrives = (attrs: Record<string, string>, more: readonly string[] = []): void => {
    const items = more.map((id) => ({ tag: 'item', attrs: { id } }));
    const content = [{ tag: 'list', attrs: {}, content: items }];
    const from = '33622222222@s.whatsapp.net';
    const node = { tag: 'receipt', attrs: { from, t: '1', ...attrs }, ...(more.length > 0 && { content }) };
    void receipts.received(node).then(() => letGo.push(attrs.id ?? ''));
  };
  const confirmed = async (index: number): Promise<void> => {
    receipts.confirm(told[index]?.token ?? '');
    await clock.advance(1);
  };
  arrives({ id: 'A' }, ['B']);
  arrives({ id: 'C' });
  arrives({ id: 'retry', type: 'retry' });
  arrives({ id: 'own', from: '33611111111@s.whatsapp.net' });
  await clock.advance(250);
  assert.deepEqual(letGo, ['retry', 'own']);
  assert.deepEqual(told[0]?.wireIds, ['A', 'C']);
  await confirmed(0);
  assert.deepEqual(letGo.splice(0), ['retry', 'own', 'C']);
  pending.clear();
  await clock.advance(500);
  await confirmed(0);
  assert.deepEqual(letGo, []);
  await confirmed(1);
  assert.deepEqual(letGo.splice(0), ['A']);
  arrives({ id: 'late' });
  await clock.advance(20_000);
  await confirmed(2);
  assert.deepEqual([told[2]?.wireIds, letGo.splice(0)], [['late'], ['late']]);
  await confirmed(2);
  assert.deepEqual(letGo, [], 'once');
  const many = Array.from({ length: 5_000 }, (_, index) => `many ${index}`);
  arrives({ id: 'most' }, many.slice(1));
  arrives({ id: 'too much' });
  await clock.advance(1);
  assert.deepEqual(letGo, [], 'nothing keeps it, so the network has to');
  await clock.advance(250);
  for (let index = 3; index < told.length; index += 1) await confirmed(index);
  arrives({ id: 'too much' });
  await clock.advance(250);
  await confirmed(told.length - 1);
  assert.deepEqual(letGo, ['most', 'too much']);
});

test('of stanzas whose commit is late a thousand words are kept, the newest, and they take no room of others', async () => {
  const clock = new FakeClock();
  const tokens: string[] = [];
  const receipts = new Receipts({
    ownAddresses: () => [],
    numberOf: async () => undefined,
    isOutside: () => false,
    orderedAs: (wireId) => wireId,
    isPending: () => false,
    atSharedMoment: (act) => void clock.after(250, act),
    onceLate: (act) => void clock.after(10_000, act),
    generation: 1,
    report: (token) => void tokens.push(token),
  });
  const letGo: string[] = [];
  const arrive = (name: string, count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const attrs = { id: `${name} ${index}`, from: '33622222222@s.whatsapp.net', t: '1' };
      void receipts.received({ tag: 'receipt', attrs }).then(() => letGo.push(name));
    }
  };
  arrive('old', 5_000);
  await clock.advance(250);
  arrive('too much', 1);
  await clock.advance(10_000);
  arrive('new', 1);
  await clock.advance(20_000);
  for (const token of tokens) receipts.confirm(token);
  await clock.advance(1);
  const count = (name: string): number => letGo.filter((one) => one === name).length;
  assert.deepEqual([count('old'), count('too much'), count('new')], [800, 0, 1]);
});
