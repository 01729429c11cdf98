/** Keys of a shop that were not used for 60 days are removed, some hundreds at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';
import { KeyUse } from '../../../../actors/sessions/worker-thread/keys/key-use.ts';
import { ChatTimers } from '../../../../actors/sessions/worker-thread/shared/chat-timers.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import type { SealedStore } from '../../../../actors/sessions/worker-thread/store/sealed-store.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { fields, sealedStore } from '../store/sealed-store-fixture.ts';

const GROUP = '120363000000000001@g.us';

/** Opens a shop's sessions one after the other, on the days that the test chooses. */
function shopOfYears() {
  const { open, store } = sealedStore();
  let nowMs = 30 * DAY_MS * 700;
  const tokens: Record<string, SignalDataTypeMap['tctoken']> = {};
  const keys: Pick<SignalKeyStore, 'get'> = {
    get: async <Type extends keyof SignalDataTypeMap>() => tokens as Record<string, SignalDataTypeMap[Type]>,
  };
  const session = async (used: (sealedStore: SealedStore) => Promise<unknown>): Promise<number> => {
    const context = fakeOf<SessionContext>({
      clock: fakeOf<Clock>({ wallMs: () => nowMs }),
      later: () => ({ cancel: () => undefined }),
    });
    const sealedStore = open((field) => use.mark(field));
    const use = new KeyUse(context, sealedStore);
    await used(sealedStore);
    const me = { id: '33600000001:2@s.whatsapp.net', lid: '777:2@lid' };
    const gone = await use.prune(await sealedStore.reseal('credentials'), { creds: { me }, keys });
    use.save();
    await sealedStore.drain();
    return gone;
  };
  return {
    session,
    tokens,
    pass: (days: number) => {
      nowMs += days * DAY_MS;
    },
    seconds: () => Math.floor(nowMs / 1_000),
    names: () =>
      [...store.hashes.values()]
        .flatMap((hash) => [...hash.keys()])
        .filter((name) => !name.startsWith('used/'))
        .toSorted(),
    periods: () =>
      [...store.hashes.values()]
        .flatMap((hash) => [...hash.keys()])
        .filter((name) => name.startsWith('used/')).length,
  };
}

const idle = async (): Promise<void> => undefined;

test('data not used for 60 days is removed with what belongs to it, and one-time keys and ids of people stay', async () => {
  const { session, pass, names, periods } = shopOfYears();
  const keptKeys = ['creds', 'lid-mapping/336', 'pre-key/1'];
  const usedKeys = ['identity-key/b.0', 'session/b.0'];
  const unused = [
    'identity-key/a.0',
    `sender-key-memory/${GROUP}`,
    `sender-key/${GROUP}::777_1::3`,
    'session/a.0',
    'wire-alias/1',
  ];
  await session((sealedStore) =>
    sealedStore.write({
      hash: 'credentials',
      fields: fields(Object.fromEntries([...keptKeys, ...usedKeys, ...unused].map((name) => [name, 'x']))),
    }),
  );
  for (let days = 0; days < 60; days += 20) {
    pass(20);
    assert.equal(await session((sealedStore) => sealedStore.read('credentials', ['session/b.0'])), 0);
    assert.deepEqual(names(), [...keptKeys, ...usedKeys, ...unused].toSorted());
  }
  pass(30);
  assert.ok((await session((sealedStore) => sealedStore.read('credentials', ['session/b.0']))) > 0);
  assert.deepEqual(names(), [...keptKeys, ...usedKeys].toSorted());
  for (let months = 0; months < 5; months += 1) {
    pass(30);
    await session((sealedStore) => sealedStore.read('credentials', ['session/b.0']));
  }
  assert.deepEqual(names(), [...keptKeys, ...usedKeys].toSorted());
  assert.equal(periods(), 3, 'what is known of former periods goes too');
});

test('the timer of a chat stays while the shop writes there', async () => {
  const { session, pass, names } = shopOfYears();
  await session(async (sealedStore) => {
    const timers = new ChatTimers(sealedStore);
    await timers.keep('+336', 86_400);
    await timers.keep('+337', 86_400);
  });
  for (let months = 0; months < 5; months += 1) {
    pass(30);
    await session(async (sealedStore) => {
      await sealedStore.read('credentials', ['session/b.0']);
      await new ChatTimers(sealedStore).of('+336');
    });
  }
  assert.deepEqual(names(), ['chat-timer/+336']);
});

test('uses of keys are saved even if the stored ones were not read when that was due', async () => {
  const { open, store, clock } = sealedStore();
  const sealed = open();
  const context = fakeOf<SessionContext>({ clock, later: (delayMs, act) => clock.after(delayMs, act) });
  const use = new KeyUse(context, sealed);
  use.mark('session/a.0');
  await clock.advance(600_000);
  await use.prune([], { creds: {}, keys: { get: async () => ({}) } });
  await clock.advance(600_000);
  await sealed.drain();
  const storedKeys = [...store.hashes.values()].flatMap((hash) => [...hash.keys()]);
  assert.deepEqual(storedKeys, [`used/${Math.floor(clock.wallMs() / (30 * DAY_MS))}`]);
});

test('a key stays that was used just before a period ended, and the stored uses were not read in time', async () => {
  const { session, pass, names } = shopOfYears();
  const read = (name: string) => (sealedStore: SealedStore) => sealedStore.read('credentials', [name]);
  await session((sealedStore) =>
    sealedStore.write({ hash: 'credentials', fields: fields({ 'session/a.0': 'x', 'session/b.0': 'x' }) }),
  );
  for (let months = 0; months < 2; months += 1) {
    pass(30);
    await session(read('session/b.0'));
  }
  pass(29);
  await session(async (sealedStore) => {
    await read('session/a.0')(sealedStore);
    pass(1);
  });
  await session(idle);
  assert.deepEqual(names(), ['session/a.0', 'session/b.0']);
});

test('nothing is removed from a shop that was away', async () => {
  const { session, pass, names } = shopOfYears();
  await session((sealedStore) =>
    sealedStore.write({ hash: 'credentials', fields: fields({ 'session/a.0': 'x' }) }),
  );
  pass(400);
  assert.equal(await session(idle), 0);
  assert.deepEqual(names(), ['session/a.0']);
});

test('at most some hundreds of unused keys are removed at once', async () => {
  const { session, pass, names } = shopOfYears();
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`session/${index}.0`, 'x']));
  await session((sealedStore) => sealedStore.write({ hash: 'credentials', fields: fields(many) }));
  for (let months = 0; months < 3; months += 1) {
    pass(30);
    const countBefore = names().length;
    await session((sealedStore) => sealedStore.read('credentials', ['session/0.0']));
    assert.ok(countBefore - names().length <= 500);
  }
  assert.ok(names().length < 1_200);
  for (let days = 0; days < 3; days += 1) {
    pass(1);
    await session((sealedStore) => sealedStore.read('credentials', ['session/0.0']));
  }
  assert.ok(names().length < 40 && names().includes('session/0.0'), 'a few count as used');
});

test('tokens are removed once the network no longer accepts them, which is after 26 weeks', async () => {
  const { session, pass, names, tokens, seconds } = shopOfYears();
  tokens['1@lid'] = { token: Buffer.from('t'), timestamp: String(seconds()) };
  await session((sealedStore) =>
    sealedStore.write({
      hash: 'credentials',
      fields: fields({ 'tctoken/1@lid': 'x', 'tctoken/__index': 'x' }),
    }),
  );
  pass(25 * 7);
  assert.equal(await session(idle), 0);
  pass(14);
  assert.equal(await session(idle), 1);
  assert.deepEqual(names(), ['tctoken/__index']);
});
