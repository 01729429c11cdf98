/** A new client uploads as many one-time keys as on the real network, and can query those that the server has. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildBuffer,
  getBinaryNodeChildren,
  type SignalDataTypeMap,
} from '@whiskeysockets/baileys';
import { Fixture } from './fixture.ts';
import type { TestClient } from './test-client.ts';

const SHOP = '+33611111111';

const askDigest = (client: TestClient): Promise<BinaryNode> =>
  client.socket.query({
    tag: 'iq',
    attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'encrypt' },
    content: [{ tag: 'digest', attrs: {} }],
  });

test('a new client uploads 812 keys, and the digest is over them', async (context) => {
  const fixture = await Fixture.start(context, { claimedPreKeys: 0 });
  const client = await fixture.link(SHOP);
  const uploadedKeys = await client.until('its keys', () => {
    const ids = client.auth.idsOf('pre-key');
    return ids.length > 0 && ids;
  });
  assert.equal(uploadedKeys.length, 812);
  const digest = getBinaryNodeChild(await askDigest(client), 'digest');
  const ids = getBinaryNodeChildren(getBinaryNodeChild(digest, 'list'), 'id').map(({ content }) =>
    String(Buffer.from(content as Uint8Array).readUIntBE(0, 3)),
  );
  // The phone takes one for the history that it sends.
  assert.ok(ids.length >= 811 && ids.every((id) => uploadedKeys.includes(id)));
  const keys = (await client.auth.keys.get('pre-key', ids)) as Record<string, SignalDataTypeMap['pre-key']>;
  const { signedIdentityKey, signedPreKey, registrationId } = client.auth.creds;
  const hash = createHash('sha1')
    .update(signedIdentityKey.public)
    .update(signedPreKey.keyPair.public)
    .update(signedPreKey.signature);
  for (const id of ids) hash.update(keys[id]?.public ?? '');
  assert.deepEqual(Buffer.from(getBinaryNodeChildBuffer(digest, 'hash') ?? []), hash.digest());
  const registration = Buffer.from(getBinaryNodeChildBuffer(digest, 'registration') ?? []);
  assert.equal(registration.readUInt32BE(), registrationId);
});

test('there is no digest of a client that uploaded no keys', async (context) => {
  const fixture = await Fixture.start(context, { claimedPreKeys: 10 });
  const client = await fixture.link(SHOP);
  await assert.rejects(askDigest(client), /item-not-found/);
});
