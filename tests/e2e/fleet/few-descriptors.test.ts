/** A node with hardly any descriptor left is not ready, so that load balancers send its callers to other nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRaw } from '../../http/socket/raw-connection.ts';
import { descriptorLimit } from '../../testbed/descriptor-limit.ts';
import { until } from '../../testbed/waiting.ts';
import { startFleet } from '../stack/fleet.ts';

/** A service has few descriptors of its own. With these, one free descriptor is less than the share that it spares. */
const CALLERS = 60;
const ASKED = 'GET /api/v1/me HTTP/1.1\r\nhost: node\r\n\r\n';

test('a node with few file descriptors left is not ready and refuses new calls, until it has enough', async () => {
  const fleet = await startFleet({ nodes: 1 });
  const [node] = fleet.nodes;
  assert.ok(node);
  const limit = await descriptorLimit(node.pid());
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => openRaw(node.apiUrl())));
  let asked = 0;
  /** Each caller asks, so that the node closes no connection, and is answered. */
  const askAll = async (): Promise<void> => {
    asked += 1;
    const isAnswered = (received: string): boolean => received.split('HTTP/1.1 401').length > asked;
    for (const caller of callers) caller.write(ASKED);
    for (const caller of callers) assert.ok(isAnswered(await caller.until(isAnswered)));
  };
  const readiness = async (): Promise<number> => (await fetch(`${node.adminUrl()}/readyz`)).status;
  const newCall = (): Promise<unknown> =>
    fetch(`${node.apiUrl()}/me`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      ({ cause }: { cause: NodeJS.ErrnoException }) => cause.code,
    );
  try {
    await askAll();
    assert.equal(await readiness(), 200);
    await until(
      'it is not ready',
      async () => {
        await askAll();
        // Counted for each try: the node may have closed some of its own since. One is left for the question.
        await limit.leave(1);
        return (await readiness()) === 503;
      },
      { everyMs: 1_000 },
    );
    assert.equal(await newCall(), 'ECONNREFUSED');
    await askAll();
    await limit.restore();
    await until('it is ready', async () => (await readiness()) === 200);
    assert.equal(await newCall(), 401);
  } finally {
    await limit.close();
    for (const caller of callers) caller.destroy();
    await fleet.stop();
  }
});
