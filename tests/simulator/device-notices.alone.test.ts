/** Notifications about a contact's devices have what the web client requires of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BinaryNode,
  generateSignalPubKey,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  proto,
} from '@whiskeysockets/baileys';
import { verifySignature } from 'libsignal/src/curve.js';
import { KEY_INDEX_PREFIX } from '../../simulator/to-clients/key-index-list.ts';
import { Fixture } from './fixture.ts';
import type { TestClient } from './test-client.ts';

const SHOP = '+33611111111';
const CONTACT = '+33622222222';
const NUMBER = '33622222222@s.whatsapp.net';

/** The account key of the contact, 32 bytes. */
async function accountKey({ socket }: TestClient): Promise<Uint8Array> {
  const answer = await socket.query({
    tag: 'iq',
    attrs: { xmlns: 'encrypt', type: 'get', to: 's.whatsapp.net' },
    content: [{ tag: 'key', attrs: {}, content: [{ tag: 'user', attrs: { jid: NUMBER } }] }],
  });
  const user = getBinaryNodeChild(getBinaryNodeChild(answer, 'list'), 'user');
  const key = getBinaryNodeChild(user, 'identity')?.content;
  assert.ok(key instanceof Uint8Array);
  return key;
}

// Rules: oxidezap/whatsapp-rust, wacore/src/stanza/devices.rs.
test('an addition names the signed key indexes of the account, and a removal their time', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const noticed = async (kind: 'devices_added' | 'devices_removed'): Promise<BinaryNode | undefined> => {
    const { ids } = await fixture.control.notify(SHOP, { kind, from: CONTACT });
    const stanza = await client.until(kind, () =>
      client.stanzas.find(({ tag, attrs }) => tag === 'notification' && attrs.id === ids[0]),
    );
    return getAllBinaryNodeChildren(stanza)[0];
  };
  const added = await noticed('devices_added');
  const list = getBinaryNodeChild(added, 'key-index-list');
  assert.deepEqual([added?.tag, Number(list?.attrs.ts) > 0], ['add', true]);
  assert.ok(list?.content instanceof Uint8Array);
  const { details, accountSignature } = proto.ADVSignedKeyIndexList.decode(list.content);
  const { validIndexes, currentIndex } = proto.ADVKeyIndexList.decode(details ?? new Uint8Array());
  const named = Number(getBinaryNodeChild(added, 'device')?.attrs['key-index']);
  assert.deepEqual([validIndexes, currentIndex], [[0, named], named]);
  const signedBytes = Buffer.concat([KEY_INDEX_PREFIX, details ?? Buffer.alloc(0)]);
  const key = Buffer.from(generateSignalPubKey(await accountKey(client)));
  assert.ok(verifySignature(key, signedBytes, Buffer.from(accountSignature ?? [])));
  const removedNode = await noticed('devices_removed');
  const time = getBinaryNodeChild(removedNode, 'key-index-list');
  assert.deepEqual(
    [removedNode?.tag, Number(time?.attrs.ts) > 0, time?.content],
    ['remove', true, undefined],
  );
});
