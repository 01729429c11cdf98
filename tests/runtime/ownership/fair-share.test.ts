import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ShardRecord, UNCLAIMED_RECORD } from '../../../runtime/engine.ts';
import { planShare } from '../../../runtime/ownership/fair-share.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';

test('from any ownership all nodes reach even shares, with one owner for each shard, without messages between them', (context) => {
  const world = fc.record({
    nodes: fc.integer({ min: 1, max: 9 }),
    // A number below the number of nodes is a living node. A higher one is a dead node, or none.
    owners: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 128, maxLength: 128 }),
    stopping: fc.boolean(),
    // 0 is a shard without writes. With few tenants most shards have none.
    revisions: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 128, maxLength: 128 }),
  });
  fc.assert(
    fc.property(world, ({ nodes: count, owners, stopping: oneStops, revisions }) => {
      const nodes = Array.from({ length: count }, (_, index) => ({
        nodeId: `n${index}`,
        incarnation: `n${index}:x`,
      }));
      const stopping = new Set(oneStops && count > 1 ? ['n0:x'] : []);
      const recordOf = (shard: number, owner: string | undefined): ShardRecord => ({
        ...UNCLAIMED_RECORD,
        revision: revisions[shard] as number,
        owner,
      });
      const records = owners.map((owner, shard) => recordOf(shard, owner === 11 ? undefined : `n${owner}:x`));
      const sharers = nodes.filter(({ incarnation }) => !stopping.has(incarnation));
      // The node that stops gives all its shards away by itself.
      for (const [shard, { owner }] of records.entries()) {
        if (stopping.has(owner ?? '')) records[shard] = recordOf(shard, undefined);
      }
      for (let round = 0; round < 3; round += 1) {
        for (const { incarnation } of sharers) {
          const held = new Set<number>();
          for (const [shard, { owner }] of records.entries()) if (owner === incarnation) held.add(shard);
          const plan = planShare({
            records,
            nodes,
            incarnation,
            held,
            leaving: new Set(),
            stopping,
            isInGrace: false,
          });
          for (const shard of plan.claims) records[shard] = recordOf(shard, incarnation);
          for (const shard of plan.releases) records[shard] = recordOf(shard, undefined);
        }
      }
      assert.ok(records.every(({ owner }) => sharers.some(({ incarnation }) => incarnation === owner)));
      for (const { incarnation } of sharers) {
        const share = records.filter(({ owner }) => owner === incarnation).length;
        assert.ok(share === Math.floor(128 / sharers.length) || share === Math.ceil(128 / sharers.length));
      }
    }),
    propertyRuns(context, 100),
  );
});

/** Runs the plans of the nodes, one after the other, for `rounds`. Returns the shards that moved. */
function settle(records: ShardRecord[], nodeIds: readonly string[], rounds: number): Set<number> {
  const moved = new Set<number>();
  const nodes = nodeIds.map((nodeId) => ({ nodeId, incarnation: `${nodeId}:x` }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { incarnation } of nodes) {
      const held = new Set([...records.keys()].filter((shard) => records[shard]?.owner === incarnation));
      const common = { records, nodes, incarnation, held, leaving: new Set<number>() };
      const plan = planShare({ ...common, stopping: new Set(), isInGrace: false });
      for (const shard of plan.claims)
        records[shard] = { ...(records[shard] as ShardRecord), owner: incarnation };
      for (const shard of plan.releases) {
        moved.add(shard);
        records[shard] = { ...(records[shard] as ShardRecord), owner: undefined };
      }
    }
  }
  return moved;
}

test('few tenants spread evenly when a node joins, and a new tenant moves none of them', () => {
  const records: ShardRecord[] = Array.from({ length: 128 }, (_, shard) => ({
    ...UNCLAIMED_RECORD,
    // 25 tenants in 25 successive shards.
    revision: shard >= 40 && shard < 65 ? 1 : 0,
  }));
  settle(records, ['a'], 1);
  const written = (owner: string) =>
    records.filter((record) => record.owner === `${owner}:x` && record.revision > 0).length;
  assert.equal(written('a'), 25);
  settle(records, ['a', 'b'], 3);
  assert.deepEqual([written('a'), written('b')], [13, 12]);
  settle(records, ['a', 'b', 'c'], 3);
  assert.deepEqual([written('a'), written('b'), written('c')], [9, 8, 8]);
  for (const [shard, record] of records.entries()) {
    if (record.owner === 'a:x') records[shard] = { ...record, revision: 1 };
  }
  assert.deepEqual([...settle(records, ['a', 'b', 'c'], 3)], []);
});

test('a shard in our name that we do not run is claimed again, or given back when we have our share', () => {
  const nodes = ['a', 'b'].map((nodeId) => ({ nodeId, incarnation: `${nodeId}:x` }));
  const records = Array.from({ length: 128 }, () => ({ ...UNCLAIMED_RECORD, owner: 'a:x' }));
  const common = {
    records,
    nodes,
    incarnation: 'a:x',
    leaving: new Set<number>(),
    stopping: new Set<string>(),
    isInGrace: false,
  };
  const held = new Set(Array.from({ length: 60 }, (_, index) => index));
  const plan = planShare({ ...common, held });
  assert.equal(plan.claims.length, 4);
  assert.equal(plan.strays.length, 64);
});

test('the shards of a node without a lease are free, but not during the grace of a takeover', () => {
  const common = {
    records: Array.from({ length: 128 }, (_, shard) =>
      shard < 100 ? { ...UNCLAIMED_RECORD, owner: 'b:x' } : UNCLAIMED_RECORD,
    ),
    nodes: [{ nodeId: 'a', incarnation: 'a:x' }],
    incarnation: 'a:x',
    held: new Set<number>(),
    leaving: new Set<number>(),
    stopping: new Set<string>(),
  };
  assert.equal(planShare({ ...common, isInGrace: false }).claims.length, 128);
  assert.equal(planShare({ ...common, isInGrace: true }).claims.length, 28);
});
