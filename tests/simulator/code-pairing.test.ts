/**
 * Pairing by code: the unmodified client against the simulated phone, and each half of the keys against the other's.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  aesDecryptCTR,
  aesEncryptCTR,
  aesEncryptGCM,
  Curve,
  derivePairingCodeKey,
  hkdf,
} from '@whiskeysockets/baileys';
import { ControlFailure } from '../../simulator/control/control-failure.ts';
import {
  linkingSecret,
  openKeyBundle,
  plainCode,
  unwrapByCode,
  wrapByCode,
} from '../../simulator/linking/pairing-code-keys.ts';
import { Fixture } from './fixture.ts';
import { TestClient } from './test-client.ts';

const PHONE = '+33611111111';
const DIGITS = '33611111111';
const CODE = 'ABCD1234';

const refusedWith = (status: number, code: string) => (error: unknown) =>
  error instanceof ControlFailure && error.status === status && error.code === code;

/** A client that is registering, in its code's time. */
async function registering(fixture: Fixture): Promise<TestClient> {
  const client = fixture.keep(new TestClient(fixture.simulator));
  await client.qr();
  return client;
}

/** Asks for a code and waits until the network has taken the question; the answer is a stanza. */
async function asksForCode(client: TestClient, digits = DIGITS): Promise<string> {
  const knownCount = client.stanzas.length;
  const code = await client.socket.requestPairingCode(digits);
  await client.until('an answer', () => client.stanzas.slice(knownCount).some(({ tag }) => tag === 'iq'));
  return code;
}

test('the phone unwraps a key that the client wraps by a code, and the other way round', async () => {
  const key = randomBytes(32);
  const [salt, counter] = [randomBytes(32), randomBytes(16)];
  const sealedBytes = aesEncryptCTR(key, await derivePairingCodeKey(CODE, salt), counter);
  assert.deepEqual(await unwrapByCode(Buffer.concat([salt, counter, sealedBytes]), CODE), key);
  const wrapped = await wrapByCode(key, CODE);
  const ownKey = await derivePairingCodeKey(CODE, wrapped.subarray(0, 32));
  assert.deepEqual(aesDecryptCTR(wrapped.subarray(48), ownKey, wrapped.subarray(32, 48)), key);
  assert.notDeepEqual(await unwrapByCode(wrapped, 'ABCD1235'), key, 'another code gives another key');
});

test('the bundle that the client seals opens under the shared secret alone, and both derive one linking secret', () => {
  const [companion, primary] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const ephemeralSecret = Curve.sharedKey(companion.private, primary.public);
  const [salt, nonce, random] = [randomBytes(32), randomBytes(12), randomBytes(32)];
  const plainBytes = Buffer.concat([companion.public, primary.public, random]);
  const info = 'link_code_pairing_key_bundle_encryption_key';
  const key = hkdf(ephemeralSecret, 32, { salt, info });
  const bundle = Buffer.concat([salt, nonce, aesEncryptGCM(plainBytes, key, nonce, Buffer.alloc(0))]);
  const openedBundle = openKeyBundle(bundle, Curve.sharedKey(primary.private, companion.public));
  assert.deepEqual(openedBundle?.random, random);
  assert.deepEqual(openedBundle?.companionIdentity, Buffer.from(companion.public));
  assert.equal(openKeyBundle(bundle, randomBytes(32)), undefined);
  assert.equal(openKeyBundle(bundle.subarray(1), ephemeralSecret), undefined);
  const seed = Buffer.concat([ephemeralSecret, ephemeralSecret, random]);
  assert.deepEqual(
    linkingSecret({ ephemeralSecret, identitySecret: ephemeralSecret, random }),
    Buffer.from(hkdf(seed, 32, { info: 'adv_secret' })),
  );
});

test('a code is the same however it is typed', () => {
  for (const typed of ['abcd1234', 'ABCD-1234', ' abcd 1234 ']) assert.equal(plainCode(typed), CODE);
});

test('a client shows a code, the phone types it after a slip, and the client is open', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await registering(fixture);
  const code = await asksForCode(client);
  assert.match(code, /^[0-9A-Z]{8}$/);
  const slip = code.startsWith('A') ? `B${code.slice(1)}` : `A${code.slice(1)}`;
  await assert.rejects(fixture.control.typeCode(slip, PHONE), refusedWith(422, 'CODE_WRONG'));
  const dashed = `${code.slice(0, 4)}-${code.slice(4).toLowerCase()}`;
  const session = await fixture.control.typeCode(dashed, PHONE);
  assert.deepEqual([session.phone, session.device], [PHONE, 1]);
  assert.equal(await client.closed(), 515);
  const linkedClient = fixture.keep(client.again());
  await linkedClient.opened();
  assert.equal(linkedClient.auth.creds.me?.id, `${DIGITS}:1@s.whatsapp.net`);
  const { items } = await fixture.control.sessions();
  assert.deepEqual(
    items.map(({ id, connected }) => [id, connected]),
    [[`${DIGITS}:1`, true]],
  );
  await assert.rejects(fixture.control.typeCode(code, PHONE), refusedWith(404, 'CODE_UNKNOWN'));
});

test('a code is for the phone it was asked for, and for its newest client', async (context) => {
  const fixture = await Fixture.start(context);
  const first = await registering(fixture);
  const firstCode = await asksForCode(first);
  await assert.rejects(fixture.control.typeCode(firstCode, '+33611111112'), refusedWith(404, 'CODE_UNKNOWN'));
  const secondClient = await registering(fixture);
  const code = await asksForCode(secondClient);
  await assert.rejects(fixture.control.typeCode(firstCode, PHONE), refusedWith(422, 'CODE_WRONG'));
  await secondClient.end();
  await first.until('the socket of the second is gone', async () => {
    const gone = await fixture.control.typeCode(code, PHONE).catch((error: ControlFailure) => error);
    return gone instanceof ControlFailure && gone.code === 'CODE_UNKNOWN';
  });
});

test('the network knows a number by another form, and gives no code for one that is not there or asks too much', async (context) => {
  const fixture = await Fixture.start(context);
  await fixture.control.setNumber('+553196348800', true, ['+5531996348800']);
  await fixture.control.setNumber('+33699999999', false);
  const client = await registering(fixture);
  const refusal = async (digits: string): Promise<string | undefined> => {
    const knownCount = client.stanzas.length;
    await client.socket.requestPairingCode(digits);
    const answer = await client.until('an answer', () =>
      client.stanzas.slice(knownCount).find(({ tag, attrs }) => tag === 'iq' && attrs.type === 'error'),
    );
    const [error] = answer.content as { attrs: Record<string, string> }[];
    return error?.attrs.code;
  };
  assert.equal(await refusal('33699999999'), '404');
  await fixture.control.queryErrors(PHONE, { xmlns: 'md' });
  assert.equal(await refusal(DIGITS), '429');
  const code = await asksForCode(client, '5531996348800');
  assert.equal((await fixture.control.typeCode(code, '+553196348800')).phone, '+553196348800');
});

test('a code to type ends when the last QR code would end', async (context) => {
  let nowMs = Date.now();
  const clock = {
    wallMs: () => nowMs,
    after: (delayMs: number, callback: () => void) => {
      const timer = setTimeout(callback, delayMs);
      timer.unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
  const fixture = await Fixture.start(context, { clock });
  const client = await registering(fixture);
  const code = await asksForCode(client);
  nowMs += 160_001;
  await assert.rejects(fixture.control.typeCode(code, PHONE), refusedWith(410, 'CODE_EXPIRED'));
  nowMs -= 2;
  await fixture.control.typeCode(code, PHONE);
});

test('bad input to the phone names its fields', async (context) => {
  const fixture = await Fixture.start(context);
  await assert.rejects(fixture.control.typeCode('', 'nobody'), (error: unknown) => {
    assert.ok(error instanceof ControlFailure);
    return error.status === 422 && (error.fields ?? []).map(({ field }) => field).join() === 'code,phone';
  });
});
