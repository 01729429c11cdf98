/** A key's value is in the index of keys exactly when somebody was given it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, failed, type Outcome } from '../../../actors/failure.ts';
import { type OperatorServiceOptions, operatorService } from '../../../actors/operators/operator-service.ts';
import { KeyIndex } from '../../../actors/tenants/key-index.ts';
import { keyHash } from '../../../actors/tenants/raw-key.ts';
import { putKey, revokeKey, rotateKey } from '../../../actors/tenants/turns/key-turns.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import type { RedisCommand, Store } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';

const golden = readGolden(1);
const keyId = '66b1f0a2c3d4e5f607182901';
const draft = {
  name: 'orders',
  permissions: [],
  expiresAt: null,
  ipAllowlist: [],
  limits: { minute: 1, hour: 1, day: 1 },
};

/** Returns a service whose tenant gives this answer, and the hashes that its index names permanently. */
async function operatorsWith(answer: () => Promise<Outcome<unknown>>) {
  const state = await goldenTenant(golden);
  const redis = new Map<string, { tenantId: string; expires: boolean }>();
  const store = {
    async append([write = ['', '']]: readonly RedisCommand[]) {
      const [command, key, tenantId, ...otherArguments] = write;
      const known = redis.get(key);
      if (command === 'SET')
        redis.set(key, { tenantId: String(tenantId), expires: otherArguments[0] === 'EX' });
      if (command !== 'PERSIST') return ['OK'];
      if (known !== undefined) known.expires = false;
      return [known === undefined ? 0 : 1];
    },
  };
  const operators = operatorService({
    actors: { state: () => state, ask: answer },
    clock: new FakeClock(),
    makeId: () => keyId,
    keyIndex: new KeyIndex(fakeOf<Store>(store)),
  } as unknown as OperatorServiceOptions);
  const named = () => {
    const kept = [...redis].filter(([, { expires }]) => !expires);
    return kept.map(([key, { tenantId }]) => [key.replace('api-key:', ''), tenantId]);
  };
  return { operators, named, redis };
}

test('a new key and a rotated key are in the index of keys', async () => {
  const { operators, named } = await operatorsWith(async () => done({ id: keyId }));
  const made = await operators.createKey(golden.tenantId, draft);
  const rotated = await operators.rotateKey(golden.tenantId, keyId);
  assert.ok(made.ok && rotated.ok);
  const hashes = [made, rotated].map(({ value }) => keyHash(value.key));
  assert.deepEqual(
    named(),
    hashes.map((hash) => [hash, golden.tenantId]),
  );
});

test('a value that was refused, or has an unknown outcome, is named for an hour at most', async () => {
  for (const answer of [
    async () => failed('NOT_FOUND'),
    () => Promise.reject(new RuntimeFailure('OUTCOME_UNKNOWN', 'who knows')),
  ]) {
    const { operators, named } = await operatorsWith(answer);
    await operators.createKey(golden.tenantId, draft).catch(() => undefined);
    await operators.rotateKey(golden.tenantId, keyId).catch(() => undefined);
    assert.deepEqual(named(), []);
  }
});

test('a key is not made if its tenant was erased before the key was named permanently', async () => {
  const { operators, redis } = await operatorsWith(async () => {
    redis.clear();
    return done({ id: keyId });
  });
  assert.deepEqual(await operators.createKey(golden.tenantId, draft), failed('NOT_FOUND'));
  assert.equal(redis.size, 0);
});

/** A tenant with a key that is not revoked. */
async function tenantWithKey() {
  const storedState = await goldenTenant(golden);
  const [key] = storedState.apiKeys.values();
  assert.ok(key);
  const record = { ...key.record, revokedAtMs: null, retiredHashes: [] };
  return { state: putKey(storedState, record).state ?? storedState, key: record.id };
}

test('a key’s record keeps every value that the index may name, and loses only those that it does not', async () => {
  const { key, ...tenant } = await tenantWithKey();
  let { state } = tenant;
  const rotate = (hash: string, forgotten: readonly string[]): void => {
    state = rotateKey(state, { keyId: key, hash, forgotten }, { nowMs: 0 }).state ?? state;
  };
  for (let index = 0; index < 150; index += 1) rotate(`value ${index}`, []);
  rotate('newest', ['value 7']);
  const keptKeys = state.apiKeys.get(key)?.record.retiredHashes ?? [];
  assert.deepEqual(
    [keptKeys.length, keptKeys.includes('value 7'), keptKeys.includes('value 6')],
    [150, false, true],
  );
});

test('a revoked key gets no new value', async () => {
  const { state, key } = await tenantWithKey();
  const revokedState = revokeKey(state, { keyId: key }, { nowMs: 1 }).state;
  assert.ok(revokedState);
  const { reply, writes } = rotateKey(revokedState, { keyId: key, hash: 'new', forgotten: [] }, { nowMs: 2 });
  const { failure } = reply as { readonly failure?: { readonly code: string } };
  assert.deepEqual([failure?.code, writes], ['CONFLICT', undefined]);
});
