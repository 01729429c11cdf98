/** An erasure or a rotation that dies at any moment leaves no key in the index of keys for longer than an hour. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../actors/failure.ts';
import { type OperatorServiceOptions, operatorService } from '../../../actors/operators/operator-service.ts';
import { KeyIndex } from '../../../actors/tenants/key-index.ts';
import type { TenantCommand } from '../../../actors/tenants/tenant-commands.ts';
import { TenantErasure } from '../../../actors/tenants/tenant-erasure.ts';
import { tenantAddress, tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import type { RedisCommand, Store } from '../../../runtime/store.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { readGolden } from '../golden/golden-store.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

const HOUR_SECONDS = 3_600;
const draft = {
  name: 'orders',
  permissions: [],
  expiresAt: null,
  ipAllowlist: [],
  limits: { minute: 1, hour: 1, day: 1 },
};
const golden = readGolden(1);
const makeId = objectIdGenerator(seededRandom(1));

const { redis } = sharedRedis({ appendfsync: 'no' });

/**
 * A process that owns the tenant until it has made this number of calls to Redis. It is killed at its last call.
 * `heard` is true if Redis still runs that one.
 */
async function processWith(tenantId: string, { calls = Number.POSITIVE_INFINITY, heard = true } = {}) {
  const address = tenantAddress(tenantId);
  const clock = new FakeClock();
  let left = calls;
  const { promise: died, resolve: die } = deferred();
  const run = async (commands: readonly RedisCommand[]): Promise<unknown[]> => {
    left -= 1;
    const isLast = left === 0;
    if (left < 0 || (isLast && !heard)) {
      die();
      return new Promise(() => undefined);
    }
    const answers = [];
    for (const [command, ...args] of commands) answers.push(await redis.call(command, ...(args as string[])));
    if (!isLast) return answers;
    die();
    return new Promise(() => undefined);
  };
  const store = {
    read: run as Store['read'],
    append: run,
    commit: async (_shard: number, writes: readonly RedisCommand[]) => void (await run(writes)),
  };
  const { load, turn } = tenantTurns({ makeId });
  // A node has loaded the tenant before its erasure begins.
  const wholeStore = fakeOf<Store>({ read: callAll as Store['read'] });
  let state = (await load(address, wholeStore, 0)) as TenantState | undefined;
  const ask = async (command: TenantCommand): Promise<Outcome<unknown>> => {
    assert.ok(state);
    const next = turn(state, command, { address, nowMs: 0, facts: NO_FACTS });
    if (next.writes?.length) await store.commit(address.shard, next.writes);
    state = next.state ?? state;
    return next.reply as Outcome<unknown>;
  };
  const keyIndex = new KeyIndex(fakeOf<Store>(store));
  const actors: Pick<Actors, 'state' | 'peek' | 'ask' | 'passivate'> = {
    state: async <State>() => state as State,
    peek: <State>() => state as State,
    ask: async <Reply>(_address: unknown, command: unknown) => (await ask(command as TenantCommand)) as Reply,
    passivate: async () => 'passivated',
  };
  const nothing = async (): Promise<void> => undefined;
  const erasure = new TenantErasure({
    actors,
    store,
    clock,
    log: new QuietLog(),
    keyIndex,
    eraseShop: nothing,
    erasePerson: nothing,
    eraseStrays: nothing,
    forgetDeadLetters: nothing,
    forgetRequests: nothing,
    refreshDirectory: nothing,
  });
  const operators = operatorService({
    actors,
    clock,
    makeId,
    keyIndex,
  } as unknown as OperatorServiceOptions);
  return { died, ask, operators, erase: () => erasure.run(address), isLoaded: () => state !== undefined };
}

const callAll = (commands: readonly RedisCommand[]): Promise<unknown[]> =>
  Promise.all(commands.map(([command, ...args]) => redis.call(command, ...(args as string[]))));

/** A tenant with a key, one that was given new values, and one that was revoked. */
async function tenantWithKeys(): Promise<string> {
  const tenantId = makeId(0);
  const record = golden.keys[tenantKeys(golden.tenantId).record]?.value as string;
  await redis.set(tenantKeys(tenantId).record, record.replaceAll(golden.tenantId, tenantId));
  const { operators } = await processWith(tenantId);
  const made = [];
  for (let index = 0; index < 3; index += 1) made.push(await operators.createKey(tenantId, draft));
  const [, second, third] = made.map((outcome) => (outcome.ok ? outcome.value.id : assert.fail()));
  for (let times = 0; times < 2; times += 1) await operators.rotateKey(tenantId, second ?? '');
  await operators.revokeKey(tenantId, third ?? '');
  assert.equal((await namedFor(tenantId)).filter(({ seconds }) => seconds === -1).length, 5);
  return tenantId;
}

/** The tenant's entries of the index, and for how long each is kept; -1: for ever. */
async function namedFor(tenantId: string): Promise<{ readonly key: string; readonly seconds: number }[]> {
  const found = [];
  for (const key of await redis.keys('api-key:*'))
    if ((await redis.get(key)) === tenantId) found.push({ key, seconds: await redis.ttl(key) });
  return found;
}

for (const heard of [true, false]) {
  test(`an erasure that dies with any of its calls ${heard ? 'done' : 'lost'} leaves no key for longer than an hour`, async () => {
    let deaths = 0;
    for (let calls = 1; ; calls += 1) {
      const tenantId = await tenantWithKeys();
      const first = await processWith(tenantId, { calls, heard });
      const erased = first.ask({ type: 'delete_tenant' }).then(first.erase);
      const end = await Promise.race([erased.then(() => 'erased'), first.died.then(() => 'died')]);
      if (end === 'died') deaths += 1;
      const next = await processWith(tenantId);
      // An erasure that was lost before it was stored is asked for again.
      if (next.isLoaded()) await next.ask({ type: 'delete_tenant' }).then(next.erase);
      assert.equal(await redis.exists(tenantKeys(tenantId).record), 0);
      assert.deepEqual(await namedFor(tenantId), [], `it died with call ${calls}`);
      if (end === 'erased') break;
    }
    // The deletion, the keys, and what is left of the tenant: each of them is a call at least.
    assert.ok(deaths >= 3, `${deaths} deaths`);
  });
}

/** Values that a key's record keeps after their rotation. */
const RETIRED_VALUES = 100;

for (const heard of [true, false]) {
  test(`a rotation that dies with any of its calls ${heard ? 'done' : 'lost'} leaves no value that its tenant does not know`, async () => {
    const owned = await tenantWithKeys();
    const { operators } = await processWith(owned);
    const listed = await operators.listKeys(owned);
    const keyId = (listed.ok && listed.value.at(0)?.id) || assert.fail();
    for (let times = 0; times < RETIRED_VALUES; times += 1) await operators.rotateKey(owned, keyId);
    for (let calls = 1, end = ''; end !== 'rotated'; calls += 1) {
      const dying = await processWith(owned, { calls, heard });
      const rotated = dying.operators.rotateKey(owned, keyId).then(() => 'rotated');
      end = await Promise.race([rotated, dying.died.then(() => 'died')]);
      assert.ok(calls > 1 || end === 'died');
    }
    const next = await processWith(owned);
    await next.ask({ type: 'delete_tenant' }).then(next.erase);
    const left = await namedFor(owned);
    assert.deepEqual(
      left.filter(({ seconds }) => seconds < 0),
      [],
    );
  });
}

test('a key that is being made while its tenant is erased leaves its name for an hour at most', async () => {
  for (let calls = 1; calls <= 4; calls += 1) {
    const tenantId = await tenantWithKeys();
    // The operator's node dies with one of its calls: the reserved name, the commit, or the lasting name.
    const maker = await processWith(tenantId, { calls });
    const made = maker.operators.createKey(tenantId, draft);
    await Promise.race([made, maker.died]);
    const owner = await processWith(tenantId);
    await owner.ask({ type: 'delete_tenant' }).then(owner.erase);
    const left = await namedFor(tenantId);
    assert.ok(
      left.every(({ seconds }) => seconds > 0 && seconds <= HOUR_SECONDS),
      JSON.stringify(left),
    );
  }
});
