/** A start with keys that open nothing is refused, before any session is tried with them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { credentialCiphers } from '../../../../actors/sessions/credential-cipher.ts';
import { answerStoreRequest } from '../../../../actors/sessions/main-thread/credential-store.ts';
import { checkCredentialsKeys } from '../../../../actors/sessions/main-thread/credentials-check.ts';
import { loadCredentials } from '../../../../actors/sessions/worker-thread/keys/credentials.ts';
import { SealedCache } from '../../../../actors/sessions/worker-thread/store/sealed-cache.ts';
import { SealedStore } from '../../../../actors/sessions/worker-thread/store/sealed-store.ts';
import { everyShop } from '../../../../actors/tenants/every-shop.ts';
import { tenantAddress, tenantKeys, tenantsOfShardKey } from '../../../../actors/tenants/tenant-keys.ts';
import { systemClock as clock } from '../../../../runtime/clock.ts';
import type { RuntimeNode } from '../../../../runtime/node/node.ts';
import type { Store } from '../../../../runtime/store.ts';
import { redisNode } from '../../../runtime/redis-node.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { readsBy } from '../../../testbed/reads-by.ts';
import { startRedisServer } from '../../../testbed/redis-server.ts';

const none = async function* () {
  yield [];
};

/** A store of one hash. */
function oneHash(): Store {
  const fields = new Map<string, Buffer>();
  return fakeOf<Store>({
    readBytes: readsBy(() => [...fields.values()]),
    append: async (writes) =>
      writes.map(([, , field, value]) => fields.set(String(field), value as unknown as Buffer)),
  });
}

test('any key that sealed here opens the store, in any order; keys that never did are refused', async () => {
  const store = oneHash();
  const [oldBytes, next, wrong] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  await checkCredentialsKeys(store, [oldBytes], none());
  await checkCredentialsKeys(store, [oldBytes], none());
  await assert.rejects(checkCredentialsKeys(store, [wrong], none()), /CREDENTIALS_KEY/);
  await assert.rejects(
    checkCredentialsKeys(store, [next], none()),
    /CREDENTIALS_KEY/,
    'the old one was dropped',
  );
  await checkCredentialsKeys(store, [oldBytes, next], none());
  await assert.rejects(
    checkCredentialsKeys(store, [next], none()),
    /CREDENTIALS_KEY/,
    'nothing is sealed with it yet',
  );
  await checkCredentialsKeys(store, [next, oldBytes], none());
  await checkCredentialsKeys(store, [next], none());
  await checkCredentialsKeys(store, [oldBytes], none());
});

/** Stores a tenant with two shops, of which the second was paired, like the tenant's actor and a session worker. */
async function pairShop({ store }: RuntimeNode, tenantId: string, key: Buffer): Promise<void> {
  const { shard } = tenantAddress(tenantId);
  const shopId = `${tenantId.slice(0, -1)}b`;
  const shop = { shard, tenantId, shopId };
  await store.commit(shard, [
    ['SADD', tenantsOfShardKey(shard), tenantId],
    ['HSET', tenantKeys(tenantId).shops, `${tenantId.slice(0, -1)}a`, '{}', shopId, '{}'],
  ]);
  const sealedStore = new SealedStore({
    shop,
    ciphers: credentialCiphers([key]),
    cache: new SealedCache(1_000_000),
    ask: (address, request) => answerStoreRequest({ store, clock, goesOn: () => true }, address, request),
    after: (delayMs, act) => clock.after(delayMs, act),
    onFailure: (error) => assert.fail(error),
    onUsed: () => undefined,
  });
  const credentials = await loadCredentials(sealedStore);
  credentials.creds.me = { id: '33611110001:1@s.whatsapp.net' };
  credentials.creds.account = {};
  await credentials.save(Date.now());
}

test('if sessions were sealed before there was a check value, one of them must open at the first start', async (context) => {
  const server = await startRedisServer();
  const { node } = await redisNode({ redisUrl: server.url });
  context.after(async () => {
    await node.stop();
    await server.stop();
  });
  const { store } = node;
  const [key, otherBytes, wrong] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const check = (...keys: Buffer[]): Promise<void> => checkCredentialsKeys(store, keys, everyShop(store));
  const tenant = '65f0000000000000000000a1';
  await pairShop(node, tenant, otherBytes);
  await pairShop(node, '65f0000000000000000000c1', key);
  await assert.rejects(check(wrong), /CREDENTIALS_KEY/);
  // The refused start stored nothing, so the next one is refused too.
  await assert.rejects(check(wrong), /CREDENTIALS_KEY/);
  await check(key, wrong);
  await assert.rejects(check(otherBytes), /CREDENTIALS_KEY/, 'from now on the check value counts');
  await check(key);
});

test('a store whose shops were never paired takes any key', async () => {
  const store = oneHash();
  const shops = async function* () {
    yield [{ shard: 0, tenantId: 'a'.repeat(24), shopId: 'b'.repeat(24) }];
  };
  const readBytes = readsBy(([command]) => (command === 'HGET' ? null : []));
  await checkCredentialsKeys({ ...store, readBytes }, [randomBytes(32)], shops());
});
