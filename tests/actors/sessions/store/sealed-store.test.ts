import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadCredentials } from '../../../../actors/sessions/worker-thread/keys/credentials.ts';
import { SentMessages } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import { KnownFields } from '../../../../actors/sessions/worker-thread/store/known-fields.ts';
import { SealedCache } from '../../../../actors/sessions/worker-thread/store/sealed-cache.ts';
import { ValueFreeError } from '../../../../runtime/described-error.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { RuntimeFailure } from '../../../../runtime/runtime-failure.ts';
import { deferred } from '../../../testbed/deferred.ts';
import { fields, sealedStore, text } from './sealed-store-fixture.ts';

test('a sent message is found for seven days, after any number of later ones, and its hash then expires', async () => {
  const { sealed, open, store, clock } = sealedStore();
  const chat = '33622222222@s.whatsapp.net';
  const sentMessages = new SentMessages(sealed, clock);
  await sentMessages.remember('3EB0A', { chat, message: { conversation: 'hello' } });
  for (let index = 0; index < 1_000; index += 1)
    await sentMessages.remember(`3EB0${index}`, { chat, message: { conversation: `${index}` } });
  await clock.advance(7 * DAY_MS);
  await sentMessages.remember('3EB0B', { chat, message: { conversation: 'a week later' } });
  const restarted = new SentMessages(open(), clock);
  const foundMessage = await restarted.find('3EB0A');
  assert.deepEqual([foundMessage?.chat, foundMessage?.message.conversation], [chat, 'hello']);
  assert.equal((await restarted.find('3EB0999'))?.message.conversation, '999');
  assert.equal(await restarted.find('3EB0C'), undefined);
  const ends = [...store.expiries.values()].map((atMs) => atMs - clock.wallMs());
  assert.equal(ends.length, 2, 'one for each day');
  assert.ok(ends.every((leftMs) => leftMs > 0 && leftMs <= 8 * DAY_MS));
});

test('a message that no key opens any more is gone, and the session continues', async () => {
  const { sealed, open, keys, clock, failures } = sealedStore();
  const chat = '33622222222@s.whatsapp.net';
  await new SentMessages(sealed, clock).remember('3EB0A', { chat, message: { conversation: 'hello' } });
  keys.splice(0, 1, randomBytes(32));
  const changedStore = open();
  assert.equal(await new SentMessages(changedStore, clock).find('3EB0A'), undefined);
  await new SentMessages(changedStore, clock).remember('3EB0B', {
    chat,
    message: { conversation: 'and on' },
  });
  assert.deepEqual(failures, []);
});

test('changes asked for together are one commit, a later one replaces an earlier one; a clearing one drops earlier values', async () => {
  const { sealed, store } = sealedStore();
  let running = 0;
  store.beforeCommit = async () => {
    running += 1;
    assert.equal(running, 1, 'one at a time');
    await nextTurn();
    running -= 1;
  };
  await Promise.all([
    sealed.write({ hash: 'credentials', fields: fields({ a: '1', b: '1', c: '1' }) }),
    sealed.write({ hash: 'sent:0', fields: fields({ s: '1' }) }),
    sealed.write({ hash: 'credentials', fields: fields({ a: '2', b: undefined }) }),
  ]);
  assert.equal(store.commits.length, 1);
  assert.deepEqual(text(await sealed.read('credentials', ['a', 'b', 'c'])), ['2', undefined, '1']);
  assert.deepEqual(text(await sealed.read('sent:0', ['s'])), ['1']);
  await sealed.write({ hash: 'credentials', fields: fields({ d: '3' }), clears: true });
  assert.deepEqual(text(await sealed.read('credentials', ['a', 'c', 'd'])), [undefined, undefined, '3']);
});

test('changes asked for during a write wait for it, together, and are read before they are written', async () => {
  const { sealed, store } = sealedStore();
  const heldCommits = store.holdCommits(() => true);
  const first = sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) });
  await heldCommits.caught;
  const later = [
    sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) }),
    sealed.write({ hash: 'credentials', fields: fields({ b: '2', c: undefined }) }),
  ];
  assert.deepEqual(text(await sealed.read('credentials', ['a', 'b', 'c'])), ['2', '2', undefined]);
  assert.equal(store.commits.length, 0);
  heldCommits.release();
  await Promise.all([first, ...later]);
  assert.equal(store.commits.length, 2);
});

test('a value that was written or read is read again without asking, by this session and no other', async () => {
  const { sealed, open, asked } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  assert.deepEqual(text(await sealed.read('credentials', ['session/a'])), ['1']);
  assert.deepEqual(asked, ['write']);
  const next = open();
  for (let round = 0; round < 2; round += 1)
    assert.deepEqual(text(await next.read('credentials', ['session/a'])), ['1']);
  assert.deepEqual(asked, ['write', 'read session/a']);
});

test('after a walk over the keys, missing fields are known without a query; fields written meanwhile are not among them', async () => {
  const { sealed, open, asked, store } = sealedStore(0);
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  const next = open();
  let meanwhile: Promise<void> = Promise.resolve();
  store.beforeRead = () => {
    meanwhile = next.write({ hash: 'credentials', fields: fields({ 'session/b': '2' }) });
  };
  await next.reseal('credentials');
  store.beforeRead = () => undefined;
  await meanwhile;
  await next.write({ hash: 'credentials', fields: fields({ 'session/c': '3' }) });
  asked.length = 0;
  const names = ['session/a', 'session/b', 'session/c', 'session/d', 'lid-mapping/33'];
  assert.deepEqual(text(await next.read('credentials', names)), ['1', '2', '3', undefined, undefined]);
  assert.deepEqual(asked, ['read session/a,session/b,session/c']);
});

test('no existing field is reported as missing, and few missing ones as existing', () => {
  const names = (from: number): string[] =>
    Array.from({ length: 3_000 }, (_, index) => `session/${(from + index) * 7_919}_1.${index % 4}`);
  const knownFields = KnownFields.of(names(0));
  for (const name of names(3_000)) knownFields.add(name);
  assert.ok([...names(0), ...names(3_000)].every((name) => knownFields.mayHold(name)));
  const wrong = names(10_000).filter((name) => knownFields.mayHold(name)).length;
  assert.ok(wrong < 60, `${wrong} of 3,000`);
});

test('an answer that a write overtook is not kept', async () => {
  const { sealed, open, store } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': 'old' }) });
  const next = open();
  store.beforeRead = () => next.write({ hash: 'credentials', fields: fields({ 'session/a': 'new' }) });
  await next.read('credentials', ['session/a']);
  store.beforeRead = () => undefined;
  assert.deepEqual(text(await next.read('credentials', ['session/a'])), ['new']);
});

test('a value that cannot be opened is unreadable wherever it is kept, and never missing', async () => {
  const { sealed, open, store, keys } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  keys[0] = randomBytes(32);
  const otherStore = open();
  await assert.rejects(otherStore.read('credentials', ['session/a']), { code: 'CREDENTIALS_UNREADABLE' });
  keys.push(randomBytes(32));
  await assert.rejects(open().reseal('credentials'), { code: 'CREDENTIALS_UNREADABLE' });
  assert.equal([...store.hashes.values()][0]?.size, 1);
});

test('kept values stay within their bytes, and the longest unused go first', () => {
  const cache = new SealedCache(3_000);
  for (let index = 0; index < 100; index += 1) {
    cache.set(`${index}`, new Uint8Array(500));
    cache.get('0');
  }
  const kept = Array.from({ length: 100 }, (_, index) => index).filter((index) => cache.get(`${index}`));
  assert.deepEqual(kept, [0, 97, 98, 99]);
});

test('changes that may be lost are written with the next ones, or alone after half a minute, and can be read meanwhile', async () => {
  const { sealed, store, clock, asked } = sealedStore();
  const names = ['lid-mapping/a', 'lid-mapping/b', 'lid-mapping/c'];
  sealed.writeLater({ hash: 'credentials', fields: fields({ 'lid-mapping/a': '1' }) });
  await clock.advance(29_000);
  assert.deepEqual(text(await sealed.read('credentials', ['lid-mapping/a'])), ['1']);
  assert.equal(asked.length, 0);
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  assert.deepEqual([store.commits.length, [...store.hashes.values()][0]?.size], [1, 2]);

  sealed.writeLater({ hash: 'credentials', fields: fields({ 'lid-mapping/b': '2' }) });
  await clock.advance(29_999);
  assert.equal(store.commits.length, 1);
  await clock.advance(1);
  await sealed.drain();
  assert.equal(store.commits.length, 2);

  sealed.writeLater({ hash: 'credentials', fields: fields({ 'lid-mapping/c': '3' }) });
  await sealed.drain();
  assert.equal(store.commits.length, 3, 'an ending session leaves nothing behind');
  assert.deepEqual(text(await sealed.read('credentials', names)), ['1', '2', '3']);
});

test('changes that may be lost are known once written, and delay neither a resealing nor later changes', async () => {
  const { sealed, store } = sealedStore();
  sealed.writeLater({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  // The clock does not move.
  await sealed.reseal('credentials');
  sealed.writeLater({ hash: 'credentials', fields: fields({ 'session/b': '2' }) });
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/c': '3' }) });
  assert.equal(store.commits.length, 2);
  assert.deepEqual(text(await sealed.read('credentials', ['session/a', 'session/b'])), ['1', '2']);
});

test('changes that may be lost go with a change that another caller carries, and stay if that was not carried', async () => {
  const { sealed, store } = sealedStore();
  sealed.writeLater({ hash: 'credentials', fields: fields({ 'lid-mapping/a': '1' }) });
  let carried: string[] = [];
  await sealed.carry({ hash: 'credentials', fields: fields({ 'session/a': '1' }) }, async (changes) => {
    carried = changes.flatMap(({ set }) => set.map(([field]) => field));
  });
  assert.deepEqual([carried, store.commits.length], [['lid-mapping/a', 'session/a'], 0]);
  sealed.writeLater({ hash: 'credentials', fields: fields({ 'lid-mapping/b': '1' }) });
  const recalled = sealed.carry({ hash: 'credentials', fields: fields({ 'session/a': '2' }) }, () =>
    Promise.reject(new Error('recalled')),
  );
  await assert.rejects(recalled, /recalled/);
  await sealed.drain();
  assert.deepEqual([...([...store.hashes.values()][0]?.keys() ?? [])], ['lid-mapping/b']);
});

test('a contact’s token is in the store when its write resolves; that we issued one may wait, and is in no list', async () => {
  const { sealed, store } = sealedStore();
  const { keys } = await loadCredentials(sealed);
  const list = { token: Buffer.from('["336@lid"]') };
  await keys.set({ tctoken: { __index: list } });
  await keys.set({
    tctoken: {
      '336@lid': { token: Buffer.alloc(0), senderTimestamp: 5 },
      __index: { token: Buffer.from('[]') },
    },
  });
  assert.equal(store.commits.length, 0);
  const issued = { token: Buffer.from([1, 2]), timestamp: '7' };
  await keys.set({ tctoken: { '337@lid': issued } });
  assert.equal(store.commits.length, 1);
  const found = await keys.get('tctoken', ['336@lid', '337@lid', '__index']);
  assert.deepEqual([found['336@lid']?.senderTimestamp, found['337@lid'], found.__index], [5, issued, list]);
});

test('after a first failure nothing is read or written any more, and the failure is reported once', async () => {
  const { sealed, store, failures } = sealedStore();
  store.beforeCommit = () => {
    throw new ValueFreeError('the shard was lost');
  };
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }), /shard was lost/);
  store.beforeCommit = () => undefined;
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) }), /shard was lost/);
  await assert.rejects(sealed.read('credentials', ['a']), /shard was lost/);
  await sealed.drain();
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
  const first = sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) });
  while (refusals === 0) await nextTurn();
  const written = Promise.all([first, sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) })]);
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000);
    await nextTurn();
  }
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
  await nextTurn();
  await clock.advance(1_000);
  life.goesOn = false;
  store.beforeCommit = () => undefined;
  await clock.advance(1_000);
  await refused;
  assert.deepEqual([store.commits.length, failures], [0, ['away (STORE_UNAVAILABLE)']]);
});

test('a shard that another node has ends the session at once', async () => {
  const { sealed, store, failures } = sealedStore();
  store.beforeCommit = () => {
    throw new RuntimeFailure('SHARD_NOT_OWNED', 'taken');
  };
  await assert.rejects(sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) }), /taken/);
  assert.deepEqual(failures, ['taken (SHARD_NOT_OWNED)']);
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

test('a change that another caller carries takes the waiting changes along, in their order', async () => {
  const { sealed, store, asked } = sealedStore();
  const waiting = sealed.write({ hash: 'sent:0', fields: fields({ s: '1' }) });
  const carried: string[] = [];
  const stored = deferred();
  const done = sealed.carry(
    { hash: 'credentials', fields: fields({ 'session/a': '1' }) },
    async (changes) => {
      carried.push(...changes.map(({ hash, set }) => `${hash} ${set.map(([field]) => field)}`));
      await stored.promise;
    },
  );
  const after = sealed.write({ hash: 'credentials', fields: fields({ 'session/b': '2' }) });
  while (carried.length === 0) await nextTurn();
  assert.deepEqual([carried, asked, store.commits.length], [['sent:0 s', 'credentials session/a'], [], 0]);
  stored.resolve();
  await Promise.all([waiting, done, after]);
  assert.deepEqual(text(await sealed.read('credentials', ['session/a', 'session/b'])), ['1', '2']);
  assert.deepEqual(asked, ['write']);
});

test('a change that was not carried is forgotten, and the changes that waited with it are written', async () => {
  const { sealed, failures, asked } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': 'before' }) });
  const waiting = sealed.write({ hash: 'credentials', fields: fields({ 'session/b': '1' }) });
  const refused = sealed.carry(
    { hash: 'credentials', fields: fields({ 'session/a': 'after', 'session/c': '1' }) },
    () => Promise.reject(new Error('recalled')),
  );
  await assert.rejects(refused, /recalled/);
  await waiting;
  const names = ['session/a', 'session/b', 'session/c'];
  assert.deepEqual(text(await sealed.read('credentials', names)), ['before', '1', undefined]);
  assert.deepEqual([asked, failures], [['write', 'write', 'read session/c'], []]);
});

test('a value that is read again is opened once, until it changes or 256 others were opened', async () => {
  const { sealed } = sealedStore();
  const read = async (field: string): Promise<Buffer | undefined> =>
    (await sealed.read('credentials', [field]))[0];
  await sealed.write({ hash: 'credentials', fields: fields({ a: '1' }) });
  const openedBytes = await read('a');
  assert.equal(await read('a'), openedBytes);
  await sealed.write({ hash: 'credentials', fields: fields({ a: '2' }) });
  const changedBytes = await read('a');
  assert.equal(changedBytes?.toString(), '2');
  const others = Array.from({ length: 256 }, (_, index) => `other-${index}`);
  await sealed.write({
    hash: 'credentials',
    fields: fields(Object.fromEntries(others.map((name) => [name, name]))),
  });
  await sealed.read('credentials', others);
  const secondBytes = await read('a');
  assert.equal(secondBytes?.toString(), '2');
  assert.notEqual(secondBytes, changedBytes, 'opened a second time');
});
