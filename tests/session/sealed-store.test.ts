import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { credentialCipher } from '../../actors/session/credential-cipher.ts';
import { answerStoreRequest } from '../../actors/session/main-thread/credential-store.ts';
import { SealedStore } from '../../actors/session/worker-thread/sealed-store.ts';
import { SentMessages } from '../../actors/session/worker-thread/sent-messages.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { FakeClock } from '../runtime/fake-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { newShop } from './session-conformance.ts';

/** What a session writes with, as its shop's only session. `life.goesOn`: whether it still is. */
function sealedStore() {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const failures: string[] = [];
  const life = { goesOn: true };
  const sealed = new SealedStore({
    shop: newShop(),
    cipher: credentialCipher([randomBytes(32)]),
    ask: (shop, request) => answerStoreRequest({ store, clock, goesOn: () => life.goesOn }, shop, request),
    onFailure: (error) => failures.push(error.message),
  });
  return { store, sealed, failures, clock, life };
}

const fields = (entries: Record<string, string | undefined>): Map<string, Buffer | undefined> =>
  new Map(
    Object.entries(entries).map(([field, value]) => [
      field,
      value === undefined ? value : Buffer.from(value),
    ]),
  );

test('a message sent is found again by its wire id, until another takes its place', async () => {
  const { sealed, store } = sealedStore();
  const sent = new SentMessages(sealed);
  await sent.remember('3EB0A', { conversation: 'hello' });
  assert.equal((await sent.find('3EB0A'))?.conversation, 'hello');
  assert.equal(await sent.find('3EB0B'), undefined);
  for (let index = 0; index < 2_000; index += 1)
    await sent.remember(`3EB0${index}`, { conversation: `${index}` });
  const [hash] = store.hashes.values();
  assert.ok((hash?.size ?? 0) <= 128, 'bounded');
  assert.equal((await sent.find('3EB01999'))?.conversation, '1999');
});

test('each change is one commit, in the order asked for; a clearing one drops what was there', async () => {
  const { sealed, store } = sealedStore();
  let running = 0;
  store.beforeCommit = async () => {
    running += 1;
    assert.equal(running, 1, 'one at a time');
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  await Promise.all([
    sealed.write({ hash: 'credentials', fields: fields({ a: '1', b: '1', c: '1' }) }),
    sealed.write({ hash: 'credentials', fields: fields({ a: '2', b: undefined }) }),
  ]);
  assert.equal(store.commits.length, 2);
  const read = await sealed.read('credentials', ['a', 'b', 'c']);
  assert.deepEqual(
    read.map((value) => value?.toString()),
    ['2', undefined, '1'],
  );
  await sealed.write({ hash: 'credentials', fields: fields({ d: '3' }), clear: true });
  assert.deepEqual(
    (await sealed.read('credentials', ['a', 'c', 'd'])).map((value) => value?.toString()),
    [undefined, undefined, '3'],
  );
});

test('after a first failure nothing is read or written any more, and it is told once', async () => {
  const { sealed, store, failures } = sealedStore();
  store.beforeCommit = () => {
    throw new Error('the shard was lost');
  };
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }), /shard was lost/);
  store.beforeCommit = () => undefined;
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) }), /shard was lost/);
  await assert.rejects(sealed.read('credentials', ['a']), /shard was lost/);
  await sealed.drained();
  assert.deepEqual([failures, store.hashes.size], [['the shard was lost'], 0]);
});

test('a store that is away is asked again until it answers: the session keeps its socket, and the order of its writes', async () => {
  const { sealed, store, failures, clock } = sealedStore();
  let refusals = 0;
  const away = (): void => {
    refusals += 1;
    if (refusals <= 100)
      throw new RuntimeFailure(refusals % 2 ? 'STORE_UNAVAILABLE' : 'OUTCOME_UNKNOWN', 'away');
  };
  store.beforeCommit = away;
  store.beforeRead = away;
  const written = Promise.all([
    sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }),
    sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) }),
  ]);
  for (let second = 0; second < 30; second += 1) await clock.advance(1_000);
  await written;
  assert.deepEqual([refusals, store.commits.length, failures.length], [102, 2, 0]);
  const [value] = await sealed.read('credentials', ['a']);
  assert.equal(value?.toString(), '2');
});

test('a session that has ended writes nothing once the store is back', async () => {
  const { sealed, store, failures, clock, life } = sealedStore();
  store.beforeCommit = () => {
    throw new RuntimeFailure('STORE_UNAVAILABLE', 'away');
  };
  const refused = assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }), /away/);
  await clock.advance(1_000);
  life.goesOn = false;
  store.beforeCommit = () => undefined;
  await clock.advance(1_000);
  await refused;
  assert.deepEqual([store.commits.length, failures], [0, ['away']]);
});

test('a shard that another node has ends the session at once', async () => {
  const { sealed, store, failures } = sealedStore();
  store.beforeCommit = () => {
    throw new RuntimeFailure('SHARD_NOT_OWNED', 'taken');
  };
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }), /taken/);
  assert.deepEqual(failures, ['taken']);
});

test('a change of many thousand fields is one commit, and none of its writes is too long for a script', async () => {
  const { sealed, store, failures } = sealedStore();
  const names = Array.from({ length: 10_000 }, (_, index) => `lid-mapping/${index}`);
  const all = (value: string | undefined) => fields(Object.fromEntries(names.map((name) => [name, value])));
  await sealed.write({ hash: 'credentials', fields: all('1') });
  assert.deepEqual([store.commits.length, [...store.hashes.values()][0]?.size], [1, names.length]);
  const [value] = await sealed.read('credentials', names.slice(-1));
  assert.equal(value?.toString(), '1');
  await sealed.write({ hash: 'credentials', fields: all(undefined) });
  assert.deepEqual([store.commits.length, [...store.hashes.values()][0]?.size, failures], [2, 0, []]);
});
