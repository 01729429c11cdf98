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
import { newShopMemory } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { quietLogger } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
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

/** The client's own transactions, which none of these tests needs. */
const NO_TRANSACTIONS = {
  transaction: <T>(work: () => Promise<T>) => work(),
  isInTransaction: () => false,
};

interface Shop {
  readonly creds: ReturnType<typeof initAuthCreds>;
  readonly keys: MemoryKeys;
}

/** Returns a message of a person as the shop gets it: its stanza and its ciphertext. */
async function sealedForShop(shop: Shop, text: Uint8Array) {
  const preKey = Curve.generateKeyPair();
  await shop.keys.set({ 'pre-key': { [PRE_KEY_ID]: preKey } });
  const { registrationId, signedIdentityKey, signedPreKey } = shop.creds;
  const keys = new MemoryKeys();
  const person = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: initAuthCreds(), keys: Object.assign(keys, NO_TRANSACTIONS) },
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
    data: text,
  });
  const enc = { tag: 'enc', attrs: { type, v: '2' }, content: ciphertext };
  const stanza = { tag: 'message', attrs: { id: 'W1', from: PERSON, type: 'text', t: '1' }, content: [enc] };
  return { stanza, sealedMessage: { jid: PERSON, type, ciphertext } };
}

/** Returns the repository of a shop whose session reports what it gets by `options`. */
function repositoryOf(shop: Shop, options: Partial<RatchetOptions>) {
  const ratchets = makeRatchets(
    shop.keys,
    fakeOf<RatchetOptions>({
      lookUpNumbers: async () => [],
      ownAddresses: () => [],
      keyless: newShopMemory(new FakeClock()).keyless,
      numbersBeside: { get: () => undefined, set: () => undefined },
      ...options,
    }),
  );
  const unusedKeys = Object.assign(new MemoryKeys(), NO_TRANSACTIONS);
  const auth = { creds: shop.creds, keys: unusedKeys };
  return { ratchets, repository: ratchets.makeSignalRepository(auth, quietLogger, undefined) };
}

test('a message that our code cannot read is reported by its wire id, and can be read later', async () => {
  const shop = { creds: initAuthCreds(), keys: new MemoryKeys() };
  const { stanza, sealedMessage } = await sealedForShop(shop, encodeWAMessage({ conversation: 'STOP' }));
  const reported: unknown[] = [];
  let fails = true;
  const { ratchets, repository } = repositoryOf(shop, {
    onReceived: async (_, { conversation }) => {
      if (fails) throw new TypeError('planted');
      reported.push(conversation);
    },
    onUnreported: (wireId, error) => void reported.push(wireId, error instanceof Error && error.name),
  });
  ratchets.arriving(stanza);
  await assert.rejects(repository.decryptMessage(sealedMessage), /planted/);
  assert.deepEqual(reported, ['W1', 'TypeError']);
  assert.equal(ratchets.outcomeOf(stanza), 'failed');
  fails = false;
  await repository.decryptMessage(sealedMessage);
  assert.deepEqual(reported, ['W1', 'TypeError', 'STOP']);
});

test('a text that does not decode is refused, and no line of the log is written for its sender', async () => {
  const shop = { creds: initAuthCreds(), keys: new MemoryKeys() };
  // One byte of padding behind a field whose length is longer than the text.
  const { stanza, sealedMessage } = await sealedForShop(shop, Buffer.from([0x0a, 0x7f, 0x01]));
  const reported: unknown[] = [];
  const note = (value: unknown): void => void reported.push(value);
  const { ratchets, repository } = repositoryOf(shop, {
    onReceived: async () => note('received'),
    onUnreported: () => note('unreported'),
  });
  ratchets.arriving(stanza);
  await assert.rejects(repository.decryptMessage(sealedMessage), RangeError);
  assert.deepEqual(reported, []);
  assert.equal(ratchets.outcomeOf(stanza), 'failed');
});

const PERSON_LID = '200@lid';

for (const { jid, readAs } of [
  { jid: PERSON, readAs: 'its number' },
  { jid: PERSON_LID, readAs: "the network's own id" },
]) {
  test(`a device without keys is not left out any longer once its message is read by ${readAs}`, async () => {
    const shop = { creds: initAuthCreds(), keys: new MemoryKeys() };
    const { sealedMessage } = await sealedForShop(shop, encodeWAMessage({ conversation: 'hello' }));
    const { keyless } = newShopMemory(new FakeClock());
    const names = jid === PERSON ? [PERSON] : [PERSON, PERSON_LID];
    const others = ['33622222222:1@s.whatsapp.net', '200:1@lid'];
    for (const name of [...names, ...others]) keyless.set(name, 'no keys');
    const { repository } = repositoryOf(shop, { keyless });
    if (jid === PERSON_LID) await repository.lidMapping.storeLIDPNMappings([{ lid: PERSON_LID, pn: PERSON }]);
    const broken = { ...sealedMessage, jid, ciphertext: new Uint8Array(80) };
    await assert.rejects(repository.decryptMessage(broken));
    assert.deepEqual(keyless.get(jid), 'no keys');
    await repository.decryptMessage({ ...sealedMessage, jid });
    assert.deepEqual(
      [...names, ...others].filter((name) => keyless.get(name) !== undefined),
      others,
    );
  });
}
