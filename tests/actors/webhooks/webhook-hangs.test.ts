/** Endpoints that never end their answer: real actors and Redis, a real server that leaves the attempts under way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedRealService } from '../../http/shared-service.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

/** Less than the 15 s after which a try that hangs is given up. */
const SOON = { timeout: 12_000 } as const;

/** Ids of the events that came, by path. */
const received = new Map<string, string[]>();
const eventsAt = (path: string) => received.get(path) ?? [];
const endpoint = sharedEndpoint(({ path, headers }, response) => {
  received.set(path, [...eventsAt(path), String(headers['webhook-id'])]);
  if (path === '/switches')
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  else if (path !== '/hangs-first' || eventsAt(path).length > 1)
    response.writeHead(204, { connection: 'close' }).end();
});
const service = sharedRealService();

const { account, create, untilRecorded } = webhookAccounts(() => service);

test('an endpoint that switches protocols has failed at once, and gets the next event', SOON, async () => {
  const { tenant, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/switches` });
  const failed = { status: 101, error: 'the endpoint answered 101' };
  assert.deepEqual((await hook.call('POST', '/test', {})).body.data, failed);
  await steer('pause');
  await untilRecorded(hook, 1);
  await steer('resume');
  await untilRecorded(hook, 2);
  const { items } = (await hook.call('GET', '/attempts')).body.data;
  assert.deepEqual(
    items.map(({ status, error }: Record<string, unknown>) => ({ status, error })),
    [failed, failed],
  );
});

test('the first try of a new webhook hangs, and its other events come meanwhile', SOON, async () => {
  const { tenant, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/hangs-first` });
  for (const word of ['pause', 'resume', 'pause'] as const) await steer(word);
  await untilRecorded(hook, 2);
  const ids = eventsAt('/hangs-first');
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
});
