import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { IDENTITY_FIELD } from '../../../../actors/sessions/associated-data.ts';
import { credentialCiphers, Unreadable } from '../../../../actors/sessions/credential-cipher.ts';
import { ValueFreeError } from '../../../../runtime/described-error.ts';
import type { Write } from '../../../../runtime/store.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const PERSON = '+33622222222';
const STRANGER = '+33644444444';

test('a sealed value opens only with its key, at its field, unchanged', () => {
  const [oldBytes, freshBytes] = [randomBytes(32), randomBytes(32)];
  const sealedBytes = credentialCiphers([oldBytes])('shop').seal('here', Buffer.from('secret'));
  const bothCipher = credentialCiphers([freshBytes, oldBytes])('shop');
  assert.equal(bothCipher.open('here', sealedBytes).toString(), 'secret');
  assert.equal(bothCipher.isCurrent(sealedBytes), false);
  assert.equal(bothCipher.isCurrent(bothCipher.seal('here', Buffer.from('secret'))), true);
  assert.throws(() => bothCipher.open('there', sealedBytes), Unreadable);
  assert.throws(() => credentialCiphers([freshBytes])('shop').open('here', sealedBytes), Unreadable);
  for (const index of [0, 1, 6, 20, sealedBytes.length - 1]) {
    const changedBytes = Buffer.from(sealedBytes);
    changedBytes[index] = (changedBytes[index] ?? 0) ^ 1;
    assert.throws(() => bothCipher.open('here', changedBytes), Unreadable, `byte ${index}`);
  }
  assert.throws(() => bothCipher.open('here', sealedBytes.subarray(0, 10)), Unreadable);
  assert.throws(() => credentialCiphers([randomBytes(16)]), /32 bytes/);
});

test('a value sealed for one shop opens for no other, and a value of format 1 opens and is sealed again', () => {
  const key = Buffer.alloc(32, 7);
  const associatedData = '66b1f0a2c3d4e5f607182901/66b1f0a2c3d4e5f607182902/credentials/creds';
  const [shop, otherCipher] = ['one', 'other'].map(credentialCiphers([key]));
  assert.ok(shop && otherCipher);
  const sealedBytes = shop.seal(associatedData, Buffer.from('secret'));
  assert.equal(shop.open(associatedData, sealedBytes).toString(), 'secret');
  assert.throws(() => otherCipher.open(associatedData, sealedBytes), Unreadable);
  // The format of programs that sealed with the configured key itself.
  const oldBytes = Buffer.from(
    'AUuwb46ytDTpK1qP/IIp/nw5m72VQUJ9QuGMD1VbNlpLaJERKgj6FAPOa+xrEqhr523sTFmZ',
    'base64',
  );
  assert.equal(shop.open(associatedData, oldBytes).toString(), 'a secret of version 1');
  assert.equal(shop.isCurrent(oldBytes), false);
  assert.equal(shop.isCurrent(sealedBytes), true);
  // The format of the first program that derived a key for each shop.
  const golden = Buffer.from(
    'Akuwb47NF7P+tEs2t5uXBoKPujxtqmNBss2LORpEXl/nVqEmrwfAfxeMdF6nUypV9iuy3N4F',
    'base64',
  );
  assert.equal(shop.open(associatedData, golden).toString(), 'a secret of version 2');
});

test('credentials that no key opens are reported as unreadable and left unchanged', async (context) => {
  const { network: first, shop } = await pairedShop(context);
  const secondNetwork = await first.another({ credentialsKeys: [randomBytes(32)] });
  const before = dump(secondNetwork.store.hashes);
  secondNetwork.host.open(shop, { generation: 3 });
  const closed = await secondNetwork.log.next(shop, 'session.closed');
  assert.equal(closed.end, 'credentials_unreadable');
  assert.equal(secondNetwork.host.figures().ends.get('credentials_unreadable'), 1);
  assert.ok(secondNetwork.logged.some((line) => line.includes('"end":"credentials_unreadable"')));
  assert.equal(secondNetwork.log.all(shop, 'session.qr').length, 0, 'no fresh pairing over it');
  assert.equal(dump(secondNetwork.store.hashes), before);
});

test('one Signal key that cannot be read ends the session rather than be replaced', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.host.order(shop, { type: 'prepare', order: textOrder('first') });
  await network.log.next(shop, 'session.send_outcome');
  const hash = [...network.store.hashes].find(([key]) => key.endsWith(':credentials'))?.[1];
  const fields = [...(hash ?? [])].filter(([field]) => field.startsWith('session/'));
  assert.ok(fields.length > 0);
  for (const [field] of fields) hash?.set(field, randomBytes(200));
  const before = dump(network.store.hashes, 'session/');
  // The session that made these keys has them in memory, so another session is opened.
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  network.host.order(shop, { type: 'prepare', order: textOrder('second') });
  const closed = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 3);
  assert.equal(closed.end, 'credentials_unreadable');
  assert.equal(dump(network.store.hashes, 'session/'), before);
});

test('a store that does not answer does not start a fresh pairing', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.host.close(shop);
  network.store.beforeRead = () => {
    throw new ValueFreeError('no connection');
  };
  network.host.open(shop, { generation: 3 });
  const closed = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 3);
  assert.deepEqual([closed.end, closed.detail], ['transient', 'no connection']);
  network.store.beforeRead = () => undefined;
  network.host.open(shop, { generation: 4 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 4);
});

test('the facts about a new recipient are stored in the commit of the first message to them', async (context) => {
  const { shop, host, log, store } = await pairedShop(context);
  host.order(shop, { type: 'prepare', order: textOrder('the first at all') });
  await log.next(shop, 'session.send_outcome');
  const countBefore = store.commits.length;
  host.order(shop, { type: 'prepare', order: textOrder('hello', { to: STRANGER }) });
  const { lid } = await log.next(shop, 'session.prepared', ({ writes }) =>
    writes.some((write) => write.includes(`lid-mapping/${STRANGER.slice(1)}`)),
  );
  assert.ok(lid);
  await log.next(shop, 'session.send_outcome');
  assert.equal(store.commits.length, countBefore + 1);
});

test('an identity that a login leaves as it was stored is not stored again', async (context) => {
  const { shop, host, log, store } = await pairedShop(context);
  const isIdentity = (write: Write): boolean => write[0] === 'HSET' && write.includes(IDENTITY_FIELD);
  const stored = (): number => store.commits.flat().filter(isIdentity).length;
  host.close(shop);
  host.open(shop, { generation: 3 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  const before = stored();
  assert.ok(before > 0);
  host.open(shop, { generation: 4 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 4);
  host.order(shop, { type: 'prepare', order: textOrder('written after it') });
  await log.next(shop, 'session.send_outcome');
  assert.equal(stored(), before);
});

test('a new key goes first, and after one session all that a login needs is sealed with it', async (context) => {
  const [oldBytes, freshBytes] = [randomBytes(32), randomBytes(32)];
  const { network: first, shop } = await pairedShop(context, { credentialsKeys: [oldBytes] });
  first.host.order(shop, { type: 'prepare', order: textOrder('before') });
  await first.log.next(shop, 'session.send_outcome');
  const secondNetwork = await first.another({ credentialsKeys: [freshBytes, oldBytes] });
  secondNetwork.host.open(shop, { generation: 3 });
  const { pairedAtMs } = await secondNetwork.log.next(shop, 'session.connected');
  assert.equal(pairedAtMs, first.log.all(shop, 'session.connected')[0]?.pairedAtMs);
  const currentCipher = credentialCiphers([freshBytes])('shop');
  // Messages kept for retries are never sealed again: they expire within eight days (docs/running.md).
  await until('everything is sealed with the new key', async () =>
    [...secondNetwork.store.hashes]
      .filter(([name]) => !name.includes('sent:'))
      .every(([, hash]) => [...hash.values()].every((value) => currentCipher.isCurrent(value))),
  );
  const third = await secondNetwork.another({ credentialsKeys: [freshBytes] });
  third.host.open(shop, { generation: 4 });
  await third.log.next(shop, 'session.connected');
  third.host.order(shop, { type: 'prepare', order: textOrder('after') });
  assert.deepEqual((await third.log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  assert.deepEqual(await third.received(shop, PERSON), ['before', 'after']);
});

test('the store and the log contain no text and no key in the clear', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.host.order(shop, { type: 'prepare', order: textOrder('a text nobody else may read') });
  await network.log.next(shop, 'session.send_outcome');
  const written = network.write(shop, PERSON, 'an answer nobody else may read');
  network.host.order(shop, {
    type: 'confirm',
    token: (await network.log.next(shop, 'session.inbound')).token,
  });
  await written;
  const storedBytes = [...network.store.hashes.values()].flatMap((hash) => [...hash.values()]);
  const kept = Buffer.concat(storedBytes).toString('latin1') + network.logged.join('\n');
  for (const secret of [
    'nobody else may read',
    'noiseKey',
    'signedIdentityKey',
    '"private"',
    'chainKey',
    SHOP_PHONE,
  ])
    assert.ok(!kept.includes(secret), secret);
});

function dump(hashes: Map<string, Map<string, Buffer>>, prefix = ''): string {
  return JSON.stringify(
    [...hashes].map(([key, hash]) => [
      key,
      [...hash]
        .filter(([field]) => field.startsWith(prefix))
        .map(([field, value]) => [field, value.toString('base64')]),
    ]),
  );
}
