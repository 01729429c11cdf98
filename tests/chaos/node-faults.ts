import assert from 'node:assert/strict';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected } from './chaos-shops.ts';
import { type Fault, homeOfFirst, within } from './scenario.ts';

/** The runtime's promise: a hand-over, a takeover after a crash, and a graceful stop take less time than this. */
const HAND_OVER_MS = 2_000;
const TAKE_OVER_MS = 15_000;
const GRACEFUL_STOP_MS = 10_000;

/** SIGTERM: a node hands over its shards and exits 0; then it comes back. */
export const handOver: Fault = {
  name: 'SIGTERM',
  async inflict(run) {
    const { fleet, shops } = run;
    const { node, other, shops: moved } = await homeOfFirst(run);
    const startedMs = performance.now();
    const ended = node.end('SIGTERM');
    await until('the shards are handed over', async () => {
      const { data } = await other.admin.get('/nodes');
      const nodes = data.items as readonly { nodeId: string; shards: number }[];
      const held = nodes.filter(({ nodeId }) => nodeId !== node.nodeId).map(({ shards }) => shards);
      return held.reduce((sum, count) => sum + count, 0) === 128;
    });
    const handedOverMs = performance.now() - startedMs;
    assert.equal(await ended, 0, 'the exit code of a graceful stop');
    const endedMs = performance.now() - startedMs;
    await allConnected(shops);
    const recoveredMs = performance.now() - startedMs;
    within(run, HAND_OVER_MS, 'the hand-over', handedOverMs);
    within(run, GRACEFUL_STOP_MS, 'the graceful stop', endedMs);
    await node.start();
    await fleet.spread();
    const note = `${moved} sessions moved; shards ${Math.round(handedOverMs)} ms, exit ${Math.round(endedMs)} ms`;
    return { recoveredMs, note };
  },
};

/** SIGKILL: the others take the shards over and reopen the sessions; then the node comes back. */
export const takeOver: Fault = {
  name: 'SIGKILL',
  async inflict(run) {
    const { fleet, shops } = run;
    const { node, shops: moved } = await homeOfFirst(run);
    const startedMs = performance.now();
    await node.end('SIGKILL');
    await fleet.spread();
    const takenMs = performance.now() - startedMs;
    await allConnected(shops);
    const recoveredMs = performance.now() - startedMs;
    within(run, TAKE_OVER_MS, 'the take-over with its sessions', recoveredMs);
    await node.start();
    await fleet.spread();
    return { recoveredMs, note: `${moved} sessions reopened; shards ${Math.round(takenMs)} ms` };
  },
};

/**
 * SIGSTOP and, after a time, SIGCONT. If it is shorter than the lease it only delays work; if longer, the node loses
 * its shards.
 */
export function stopped(name: string, forMs: number): Fault {
  return {
    name: `SIGSTOP ${name} (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node, other } = await homeOfFirst(run);
      const lossesBefore = await node.metric('msgapi_runtime_lease_losses_total');
      const startedMs = performance.now();
      node.signal('SIGSTOP');
      await pause(forMs);
      const { data } = await other.admin.get('/nodes');
      const alive = (data.items as readonly { nodeId: string }[]).map(({ nodeId }) => nodeId);
      node.signal('SIGCONT');
      await run.fleet.spread();
      await allConnected(run.shops);
      const recoveredMs = performance.now() - startedMs;
      const losses = (await node.metric('msgapi_runtime_lease_losses_total')) - lossesBefore;
      const took = alive.includes(node.nodeId) ? 'it kept its shards' : 'others took its shards';
      return { recoveredMs, note: `${took}; leases lost ${losses}` };
    },
  };
}

/** No fault: every node answers any request, and a revoked key opens nothing on any of them. */
export const anyNodeAnswers: Fault = {
  name: 'any node answers',
  async inflict({ fleet, shops }) {
    const startedMs = performance.now();
    const [shop] = shops;
    assert.ok(shop);
    for (const node of fleet.nodes) {
      const { data } = await node.api(shop.apiKey).get(`/shops/${shop.id}/channels/msgapp`);
      assert.deepEqual([data.status, data.phone], ['connected', shop.phone.slice(1)]);
    }
    const createdAnswer = await fleet.admin.post(`/tenants/${shop.tenantId}/keys`, {
      name: 'k',
      permissions: [],
    });
    await fleet.admin.delete(`/tenants/${shop.tenantId}/keys/${createdAnswer.data.id}`);
    for (const node of fleet.nodes) {
      const { error } = await node.api(String(createdAnswer.data.key)).get('/me');
      assert.equal(error?.code, 'API_KEY_REVOKED');
    }
    return { recoveredMs: performance.now() - startedMs };
  },
};
