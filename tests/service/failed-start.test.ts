/** A node that does not start leaves nothing behind. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock as clock } from '../../runtime/clock.ts';
import { startService } from '../../service/compose-service.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { QuietLog } from '../runtime/quiet-log.ts';
import { listening } from '../testbed/listening.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { eventually } from '../testbed/waiting.ts';

const { redis, url: redisUrl } = sharedRedis();

/** The number of connections to Redis without the test's own. */
async function connectionsOfOthers(): Promise<number> {
  const clients = String(await redis.client('LIST'))
    .trim()
    .split('\n');
  return clients.length - 1;
}

test('a node whose address is not free gives back its lease and its connections', async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'failed-start-'));
  const other = createServer();
  const port = await listening(other);
  context.after(() => {
    other.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const environment = serviceEnvironment({
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    REDIS_URL: redisUrl,
    DATA_DIR: dataDir,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
    ADMIN_PORT: String(port),
    NODE_ID: 'failed-1',
  });
  const log = new QuietLog();
  const starting = startService({
    environment,
    log,
    startHost: (_node, listener) => new MemorySessionHost({ clock, listener }),
    onLost: () => undefined,
  });
  await assert.rejects(starting, new RegExp(String(port)));
  assert.equal(await redis.exists('{runtime}:lease:failed-1'), 0);
  await eventually(async () => (await connectionsOfOthers()) === 0, 10_000);
  assert.deepEqual(log.errors, []);
});
