/** Calls that a tenant's node counted just before the tenant leaves it are not forgotten: there is no crash in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantService } from '../../../actors/tenants/operations/tenant-service.ts';
import { UsageStorer } from '../../../actors/tenants/operations/usage-storer.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { shardOf } from '../../../runtime/address.ts';
import type { RuntimeLimits } from '../../../runtime/limits.ts';
import type { CounterHooks } from '../../runtime/counter-behaviour.ts';
import { type MemoryNode, memoryNode } from '../../runtime/memory-node.ts';
import { goldenTenant, putGolden, readGolden } from '../golden/golden-store.ts';
import { tenantTurns } from './tenant-turns.ts';

const golden = readGolden(1);
const address = tenantAddress(golden.tenantId);

interface TenantNode {
  readonly world: MemoryNode;
  /** The API calls once with the tenant's key. */
  readonly call: () => Promise<void>;
  /** Calls of the last day that the key is known to have made. */
  readonly used: () => Promise<number>;
}

async function tenantNode(options: {
  readonly on?: MemoryNode;
  readonly nodeId?: string;
  readonly hooks?: CounterHooks;
  readonly limits?: Partial<RuntimeLimits>;
}): Promise<TenantNode> {
  const world = await memoryNode(options);
  if (options.on === undefined) putGolden(golden, world.redis);
  const { actors, store } = world.node;
  const keyLimits = new KeyLimits();
  world.node.register(tenantTurns({ keyLimits }));
  const usage = new UsageStorer({ actors, clock: world.clock, keyLimits });
  const channelStatuses = () => Promise.resolve([]);
  const service = tenantService({ actors, store, clock: world.clock, keyLimits, usage, channelStatuses });
  const [key] = [...(await goldenTenant(golden)).apiKeys.values()].filter(
    ({ record }) => record.revokedAtMs === null,
  );
  assert.ok(key);
  const { id: keyId, hash: keyHash, limits } = key.record;
  return {
    world,
    async call() {
      const request = { tenantId: golden.tenantId, keyHash, ip: '192.0.2.1' };
      const admission = await world.outcome(
        Promise.resolve(service.admit(request, { isBusy: false, mayExceedQuota: false })),
      );
      assert.equal((admission as { isAdmitted?: boolean }).isAdmitted, true, JSON.stringify(admission));
    },
    async used() {
      await world.outcome(Promise.resolve(actors.state<TenantState>(address)));
      const day = keyLimits.peek({ keyId, limits, nowMs: world.clock.wallMs() }).at(-1);
      return limits.day - (day?.remaining ?? 0);
    },
  };
}

test('a call counted between the start of a hand-over and its end counts at the next owner', async () => {
  const first = await tenantNode({ hooks: { settled: () => false } });
  const { clock, node, outcome } = first.world;
  // A command in progress in the same shard delays the hand-over up to its deadline, 1.5 s.
  const neighbour = Array.from({ length: 5_000 }, (_, index) => `n${index}`).find(
    (id) => shardOf(id) === address.shard,
  );
  await outcome(
    node.actors.ask({ shard: address.shard, kind: 'counter', id: neighbour ?? '' }, { type: 'read' }),
  );
  await first.call();
  const before = await first.used();
  const stopping = outcome(node.stop());
  await clock.advance(1_300);
  await first.call();
  await stopping;
  const secondNode = await tenantNode({ on: first.world, nodeId: 'b' });
  assert.equal(await secondNode.used(), before + 1);
});

test('a call counted just before an idle tenant would be passivated is stored before it is', async () => {
  // Usage is stored a second after the first call that changed it.
  const { world, call, used } = await tenantNode({
    limits: { passivateAfterMs: 1_500, passivateEveryMs: 100 },
  });
  const isThere = (): boolean => world.node.actors.peek(address) !== undefined;
  const before = await used();
  await world.clock.advance(1_400);
  assert.ok(isThere());
  await call();
  await world.clock.advance(5_000);
  assert.ok(!isThere(), 'it is passivated in the end');
  assert.equal(await used(), before + 1);
});

test('an operator’s restart and passivation forget no call', async () => {
  const { world, call, used } = await tenantNode({});
  await call();
  const before = await used();
  await call();
  await world.outcome(world.node.actors.restart(address));
  assert.equal(await used(), before + 1, 'after a restart');
  await call();
  assert.equal(await world.outcome(world.node.actors.passivate(address)), 'passivated');
  assert.equal(await used(), before + 2, 'after a passivation');
});
