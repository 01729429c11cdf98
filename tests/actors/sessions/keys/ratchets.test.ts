/** A message that is decrypted and then fails in our own code is reported, and its ratchet stays where it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import {
  makeRatchets,
  type RatchetOptions,
} from '../../../../actors/sessions/worker-thread/keys/ratchets.ts';
import { quietLogger } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const PERSON = '33622222222@s.whatsapp.net';
const SHOP = '33611110000@s.whatsapp.net';
const PRE_KEY_ID = 1;

/** The keys of one client, in memory. */
class MemoryKeys implements SignalKeyStore {
  readonly #values = new Map<string, unknown>();

  async get<Type extends keyof SignalDataTypeMap>(
    type: Type,
    ids: string[],
  ): Promise<Record<string, SignalDataTypeMap[Type]>> {
    const known = ids.flatMap((id) =>
      this.#values.has(`${type} ${id}`) ? [[id, this.#values.get(`${type} ${id}`)]] : [],
    );
    return Object.fromEntries(known) as Record<string, SignalDataTypeMap[Type]>;
  }

  async set(data: SignalDataSet): Promise<void> {
    for (const [type, values] of Object.entries(data))
      for (const [id, value] of Object.entries(values ?? {})) this.#values.set(`${type} ${id}`, value);
  }
}

/** Returns a message of a person as the shop gets it: its stanza and its ciphertext. */
async function sealedForShop(shop: {
  readonly creds: ReturnType<typeof initAuthCreds>;
  readonly keys: MemoryKeys;
}) {
  const preKey = Curve.generateKeyPair();
  await shop.keys.set({ 'pre-key': { [PRE_KEY_ID]: preKey } });
  const { registrationId, signedIdentityKey, signedPreKey } = shop.creds;
  const keys = new MemoryKeys();
  const person = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    {
      creds: initAuthCreds(),
      keys: Object.assign(keys, {
        transaction: <T>(work: () => Promise<T>) => work(),
        isInTransaction: () => false,
      }),
    },
    quietLogger,
    undefined,
  );
  const prefixed = (key: Uint8Array) => Buffer.concat([Buffer.from([5]), key]);
  await person.injectE2ESession({
    jid: SHOP,
    session: {
      registrationId,
      identityKey: prefixed(signedIdentityKey.public),
      signedPreKey: {
        keyId: signedPreKey.keyId,
        publicKey: prefixed(signedPreKey.keyPair.public),
        signature: signedPreKey.signature,
      },
      preKey: { keyId: PRE_KEY_ID, publicKey: prefixed(preKey.public) },
    },
  });
  const { type, ciphertext } = await person.encryptMessage({
    jid: SHOP,
    data: encodeWAMessage({ conversation: 'STOP' }),
  });
  const enc = { tag: 'enc', attrs: { type, v: '2' }, content: ciphertext };
  const stanza = { tag: 'message', attrs: { id: 'W1', from: PERSON, type: 'text', t: '1' }, content: [enc] };
  return { stanza, sealedMessage: { jid: PERSON, type, ciphertext } };
}

test('a message that our code cannot read is reported by its wire id, and can be read later', async () => {
  const shop = { creds: initAuthCreds(), keys: new MemoryKeys() };
  const { stanza, sealedMessage } = await sealedForShop(shop);
  const reported: unknown[] = [];
  let fails = true;
  const ratchets = makeRatchets(
    shop.keys,
    fakeOf<RatchetOptions>({
      lookUpNumbers: async () => [],
      ownAddresses: () => [],
      numbersBeside: { get: () => undefined, set: () => undefined },
      onReceived: async (_, { conversation }) => {
        if (fails) throw new TypeError('planted');
        reported.push(conversation);
      },
      onUnreported: (wireId, error) => void reported.push(wireId, error instanceof Error && error.name),
    }),
  );
  const unusedKeys = Object.assign(new MemoryKeys(), {
    transaction: <T>(work: () => Promise<T>) => work(),
    isInTransaction: () => false,
  });
  const repository = ratchets.makeSignalRepository(
    { creds: shop.creds, keys: unusedKeys },
    quietLogger,
    undefined,
  );
  ratchets.arriving(stanza);
  await assert.rejects(repository.decryptMessage(sealedMessage), /planted/);
  assert.deepEqual(reported, ['W1', 'TypeError']);
  assert.equal(ratchets.outcomeOf(stanza), 'failed');
  fails = false;
  await repository.decryptMessage(sealedMessage);
  assert.deepEqual(reported, ['W1', 'TypeError', 'STOP']);
});
