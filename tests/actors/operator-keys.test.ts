/** A key's value is in the directory of keys exactly when somebody was given it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, failed, type Outcome } from '../../actors/failure.ts';
import { type OperatorServiceOptions, operatorService } from '../../actors/operators/operator-service.ts';
import { keyHash } from '../../actors/tenant/raw-key.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { FakeClock } from '../runtime/fake-clock.ts';
import { QuietLog } from '../runtime/quiet-log.ts';
import { goldenTenant, readGolden } from './golden/golden-store.ts';

const golden = readGolden(1);
const keyId = '66b1f0a2c3d4e5f607182901';
const draft = {
  name: 'orders',
  permissions: [],
  expiresAt: null,
  ipAllowlist: [],
  limits: { minute: 1, hour: 1, day: 1 },
};

/** A service whose tenant answers so, and the hashes that its directory names. */
async function operatorsWith(answer: () => Promise<Outcome<unknown>>, forget?: () => Promise<void>) {
  const state = await goldenTenant(golden);
  const named = new Map<string, string>();
  const log = new QuietLog();
  const operators = operatorService({
    actors: { state: () => state, ask: answer },
    clock: new FakeClock(),
    makeId: () => keyId,
    log,
    directory: {
      name: async (hash: string, tenantId: string) => void named.set(hash, tenantId),
      forget: forget ?? (async (hashes: readonly string[]) => void hashes.map((hash) => named.delete(hash))),
    },
  } as unknown as OperatorServiceOptions);
  return { operators, named, log };
}

test('a key that was made or given a new value is named', async () => {
  const { operators, named } = await operatorsWith(async () => done({ id: keyId }));
  const made = await operators.createKey(golden.tenantId, draft);
  const rotated = await operators.rotateKey(golden.tenantId, keyId);
  assert.ok(made.ok && rotated.ok);
  const hashes = [made, rotated].map(({ value }) => keyHash(value.key));
  assert.deepEqual(
    [...named],
    hashes.map((hash) => [hash, golden.tenantId]),
  );
});

test('a value that was refused, or of which nobody knows what became, is named no longer', async () => {
  for (const answer of [
    async () => failed('NOT_FOUND'),
    () => Promise.reject(new RuntimeFailure('OUTCOME_UNKNOWN', 'who knows')),
  ]) {
    const { operators, named } = await operatorsWith(answer);
    await operators.createKey(golden.tenantId, draft).catch(() => undefined);
    await operators.rotateKey(golden.tenantId, keyId).catch(() => undefined);
    assert.deepEqual([...named.keys()], []);
  }
});

test('why a value was refused is told, though it could not be taken out of the directory', async () => {
  const { operators, log } = await operatorsWith(
    async () => failed('NOT_FOUND'),
    () => Promise.reject(new Error('Redis is away')),
  );
  assert.deepEqual(await operators.rotateKey(golden.tenantId, keyId), failed('NOT_FOUND'));
  assert.equal(log.warnings.length, 1);
});
