/** The facts that a session reports about a pairing code, and the end of that code. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  associatedDataOf,
  IDENTITY_FIELD,
  sealedOwner,
} from '../../../../actors/sessions/associated-data.ts';
import { credentialCiphers } from '../../../../actors/sessions/credential-cipher.ts';
import { newShop, SHOP_PHONE } from '../conformance-network.ts';
import { simulatedNetwork } from '../paired-shop.ts';

const pairWith = SHOP_PHONE.slice(1);

test('a client that asked for a code has no identity until it is typed: the next session pairs again, by either code', async (context) => {
  const network = await simulatedNetwork(context);
  const shop = newShop();
  const { host, log, store } = network;
  host.open(shop, { generation: 1, pairWith });
  const first = await log.next(shop, 'session.pairing_code');
  assert.deepEqual([...store.hashes.keys()], [], 'nothing is stored of it');
  host.open(shop, { generation: 2 });
  await log.next(shop, 'session.qr');
  host.open(shop, { generation: 3, pairWith });
  const second = await log.next(shop, 'session.pairing_code');
  assert.notEqual(second.code, first.code);
  await assert.rejects(network.control.typeCode(first.code, SHOP_PHONE), /not the code/);
  await network.control.typeCode(second.code, SHOP_PHONE);
  assert.equal((await log.next(shop, 'session.closed')).end, 'restart_required');
  for (const { code } of [first, second])
    assert.ok(!network.logged.some((line) => line.includes(code)), 'no code is logged');
});

test('the code is not stored with the identity that it paired', async (context) => {
  const key = randomBytes(32);
  const network = await simulatedNetwork(context, { credentialsKeys: [key] });
  const shop = newShop();
  network.host.open(shop, { generation: 1, pairWith });
  const { code } = await network.log.next(shop, 'session.pairing_code');
  await network.control.typeCode(code, SHOP_PHONE);
  await network.log.next(shop, 'session.closed');
  const hash = [...network.store.hashes].find(([name]) => name.endsWith(':credentials'))?.[1];
  const sealedBytes = hash?.get(IDENTITY_FIELD);
  assert.ok(sealedBytes !== undefined);
  const associatedData = associatedDataOf(shop, 'credentials', IDENTITY_FIELD);
  const identity = credentialCiphers([key])(sealedOwner(shop)).open(associatedData, sealedBytes).toString();
  assert.ok(identity.includes('"account"') && identity.includes(pairWith));
  assert.ok(!identity.includes(code));
});

/** A busy machine must make a code within six times this. */
const QR_MS = 800;

test('a code that is never typed ends after the time of all QR codes', async (context) => {
  const network = await simulatedNetwork(context, { timing: { qrMs: QR_MS } });
  const shop = newShop();
  const startedMs = Date.now();
  network.host.open(shop, { generation: 1, pairWith });
  const { expiresAtMs } = await network.log.next(shop, 'session.pairing_code');
  const closed = await network.log.next(shop, 'session.closed');
  assert.deepEqual([closed.end, closed.statusCode], ['qr_exhausted', 408]);
  assert.ok(expiresAtMs >= startedMs + 6 * QR_MS && expiresAtMs <= Date.now() + QR_MS, 'as long as it said');
  assert.deepEqual([...network.host.figures().ends], [['qr_exhausted', 1]]);
});

test('a network that fails is asked again, and does not count as a refusal', async (context) => {
  const network = await simulatedNetwork(context);
  const shop = newShop();
  await network.refuseCode(shop, SHOP_PHONE, 503);
  network.host.open(shop, { generation: 1, pairWith });
  const { end, statusCode } = await network.log.next(shop, 'session.closed');
  assert.deepEqual([end, statusCode], ['transient', 503], 'it may be asked again');
});
