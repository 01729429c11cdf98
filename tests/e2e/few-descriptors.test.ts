/** A node with hardly any descriptor left is not ready, so that load balancers send its callers to other nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorLimit } from '../descriptor-limit.ts';
import { startFleet } from './fleet.ts';
import { until } from './waiting.ts';

test('a node with hardly any descriptor left is not ready and refuses new calls, until it has some', async () => {
  const fleet = await startFleet({ nodes: 1 });
  const [node] = fleet.nodes;
  assert.ok(node);
  const limit = await descriptorLimit(node.pid());
  // This connection stays open, since no new one may be possible.
  const readiness = async (): Promise<number> => (await fetch(`${node.adminUrl()}/readyz`)).status;
  const call = (): Promise<unknown> =>
    fetch(`${node.apiUrl()}/me`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      ({ cause }: { cause: NodeJS.ErrnoException }) => cause.code,
    );
  try {
    assert.equal(await readiness(), 200);
    await limit.leave(1);
    await until('it is not ready', async () => (await readiness()) === 503);
    assert.equal(await call(), 'ECONNREFUSED');
    await limit.restore();
    await until('it is ready', async () => (await readiness()) === 200);
    assert.equal(await call(), 401);
  } finally {
    await limit.close();
    await fleet.stop();
  }
});
