import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ShardRecord, unclaimedRecord } from '../../runtime/engine.ts';
import { planShare } from '../../runtime/ownership/fair-share.ts';

test('from any ownership all nodes come to even shares, every shard once, without talking', () => {
  const world = fc.record({
    nodes: fc.integer({ min: 1, max: 9 }),
    // Below the number of nodes: that node. Above: a dead one, or nobody.
    owners: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 128, maxLength: 128 }),
    stopping: fc.boolean(),
  });
  fc.assert(
    fc.property(world, ({ nodes: count, owners, stopping: oneStops }) => {
      const nodes = Array.from({ length: count }, (_, index) => ({
        nodeId: `n${index}`,
        incarnation: `n${index}:x`,
      }));
      const stopping = new Set(oneStops && count > 1 ? ['n0:x'] : []);
      const records: ShardRecord[] = owners.map((owner) => ({
        ...unclaimedRecord,
        owner: owner === 11 ? undefined : `n${owner}:x`,
      }));
      const sharers = nodes.filter(({ incarnation }) => !stopping.has(incarnation));
      // The one that stops gives everything away by itself.
      for (const [shard, { owner }] of records.entries()) {
        if (stopping.has(owner ?? '')) records[shard] = unclaimedRecord;
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
            takeoverGrace: false,
          });
          for (const shard of plan.claims) records[shard] = { ...unclaimedRecord, owner: incarnation };
          for (const shard of plan.releases) records[shard] = unclaimedRecord;
        }
      }
      for (const { incarnation } of sharers) {
        const share = records.filter(({ owner }) => owner === incarnation).length;
        assert.ok(share === Math.floor(128 / sharers.length) || share === Math.ceil(128 / sharers.length));
      }
    }),
  );
});

test('a shard in our name that we do not run is claimed again, or given back when we have our share', () => {
  const nodes = ['a', 'b'].map((nodeId) => ({ nodeId, incarnation: `${nodeId}:x` }));
  const records = Array.from({ length: 128 }, () => ({ ...unclaimedRecord, owner: 'a:x' }));
  const common = {
    records,
    nodes,
    incarnation: 'a:x',
    leaving: new Set<number>(),
    stopping: new Set<string>(),
    takeoverGrace: false,
  };
  const held = new Set(Array.from({ length: 60 }, (_, index) => index));
  const plan = planShare({ ...common, held });
  assert.equal(plan.claims.length, 4);
  assert.equal(plan.strays.length, 64);
});

test('what a node without a lease owns is free, but not during the grace of a takeover', () => {
  const common = {
    records: Array.from({ length: 128 }, (_, shard) =>
      shard < 100 ? { ...unclaimedRecord, owner: 'b:x' } : unclaimedRecord,
    ),
    nodes: [{ nodeId: 'a', incarnation: 'a:x' }],
    incarnation: 'a:x',
    held: new Set<number>(),
    leaving: new Set<number>(),
    stopping: new Set<string>(),
  };
  assert.equal(planShare({ ...common, takeoverGrace: false }).claims.length, 128);
  assert.equal(planShare({ ...common, takeoverGrace: true }).claims.length, 28);
});
