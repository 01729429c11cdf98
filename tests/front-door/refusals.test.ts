/** The proxy of compose.yaml refuses some calls by itself: in the usual envelope, and without a call to a node. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { sharedService } from '../http/shared-service.ts';
import type { TestTenant } from '../http/target.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { until } from '../testbed/waiting.ts';
import { behindNginx, type NginxFront } from './nginx-front.ts';
import { type NodeRelay, startNodeRelay } from './node-relay.ts';

let tenant: TestTenant;
let node: NodeRelay;
after(() => node?.die());
const { service, target } = sharedService({}, async () => {
  tenant = await target.tenant({ plan: 'scale' });
  node = await startNodeRelay(Number(new URL(service.apiUrl).port));
});

const behind = (
  ask: (front: NginxFront) => Promise<void>,
  change = (configuration: string) => configuration,
) =>
  behindNginx([node.port, node.port], ask, { change, operatorsPort: Number(new URL(service.adminUrl).port) });

/** The reply to these bytes on a connection of their own. */
async function replyTo({ url }: NginxFront, bytes: string): Promise<string> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
  socket.setEncoding('utf8').write(bytes);
  let reply = '';
  socket.on('data', (text) => {
    reply += text;
    if (reply.endsWith('}')) socket.end();
  });
  await once(socket, 'close');
  return reply;
}

const open = (front: NginxFront, accept: string): Promise<Response> =>
  fetch(`${front.url}/api/v1/events`, { headers: { authorization: `Bearer ${tenant.key}`, accept } });

// A node answers a body that is too large before it is whole and closes the connection. nginx took that for a failure
// of the node: anybody could take the nodes out, without a key.
test('a body over 64 KiB is refused and reaches no node', () =>
  behind(async (front) => {
    const takenCount = node.taken.length;
    for (const method of ['POST', 'PUT']) {
      const body = 'x'.repeat(65_537);
      const refusedResponse = await fetch(`${front.url}/api/v1/too-large`, { method, body });
      assert.equal(refusedResponse.status, 413);
      const { error } = (await refusedResponse.json()) as { error: { code: string } };
      assert.equal(error.code, 'PAYLOAD_TOO_LARGE');
      assert.ok(refusedResponse.headers.get('x-request-id'));
    }
    assert.equal(node.taken.length, takenCount);
    const largest = await fetch(`${front.url}/api/v1/shops`, { method: 'POST', body: 'x'.repeat(65_536) });
    assert.equal(largest.status, 401, 'the largest body that the service reads reaches it');
  }));

for (const [title, bytes, status, code] of [
  ['a request without a host', 'GET / HTTP/1.1\r\n\r\n', 400, 'VALIDATION_ERROR'],
  ['what is no HTTP', '\x16\x03\x01\r\n\r\n', 400, 'VALIDATION_ERROR'],
  ['another version of HTTP', 'GET / HTTP/7.0\r\nHost: x\r\n\r\n', 505, 'VALIDATION_ERROR'],
  ['a line of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'VALIDATION_ERROR'],
  [
    'a header of 40 KB',
    `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`,
    431,
    'VALIDATION_ERROR',
  ],
  ['TRACE', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ['a page of refusals itself', 'GET /.malformed HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'NOT_FOUND'],
] as const) {
  test(`${title} is refused ${status} in the envelope`, () =>
    behind(async (front) => {
      const takenCount = node.taken.length;
      const reply = await replyTo(front, bytes);
      assert.match(reply, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(reply, /\r\nX-Request-Id: [0-9a-f]{32}\r\n/);
      const { success, error } = JSON.parse(reply.slice(reply.indexOf('\r\n\r\n') + 4));
      assert.deepEqual([success, error.code], [false, code]);
      assert.equal(node.taken.length, takenCount);
    }));
}

test('a caller that is refused without a free slot is answered as soon as one is free', () =>
  behind(
    async (front) => {
      const streams = await Promise.all([open(front, 'text/event-stream'), open(front, 'text/event-stream')]);
      const me = async (): Promise<number> => {
        const headers = { authorization: `Bearer ${tenant.key}`, connection: 'close' };
        const answer = await fetch(`${front.url}/api/v1/me`, { headers });
        await answer.body?.cancel();
        return answer.status;
      };
      const crowd = await Promise.all(Array.from({ length: 20 }, me));
      assert.deepEqual([...new Set(crowd)], [503]);
      await streams[0]?.body?.cancel();
      await until('a call is answered', async () => (await me()) === 200);
      await streams[1]?.body?.cancel();
    },
    (configuration) => configuration.replaceAll(/(limit_conn calls) \d+;/g, '$1 2;'),
  ));

test('one call more than there are places is refused 503 OVERLOADED, and logged; operators have places of their own', () => {
  const log = join(mkdtempSync(join(tmpdir(), 'front-log-')), 'log');
  return behind(
    async (front) => {
      const streams = await Promise.all([open(front, 'text/event-stream'), open(front, 'text/event-stream')]);
      const refusedResponse = await open(front, 'application/json');
      assert.deepEqual([refusedResponse.status, refusedResponse.headers.get('retry-after')], [503, '5']);
      const { error } = (await refusedResponse.json()) as { error: { code: string; retryAfter: number } };
      assert.deepEqual([error.code, error.retryAfter], ['OVERLOADED', 5]);
      await until('nginx logs it', async () =>
        readFileSync(log, 'utf8').includes('limiting connections by zone "calls"'),
      );
      assert.equal((await fetch(`${front.adminUrl}/healthz`)).status, 200);
      await Promise.all(streams.map(({ body }) => body?.cancel()));
    },
    (configuration) =>
      configuration
        .replaceAll(/(limit_conn calls) \d+;/g, '$1 2;')
        .replace('error_log stderr crit', `error_log ${log} warn`),
  ).finally(() => rmSync(dirname(log), { recursive: true }));
});

test('a worker of nginx has two connections for each slot, compose.yaml allows as many open files, and an alert comes before they are used', () => {
  const configuration = readRepositoryFile('deploy/front/nginx.conf');
  const places = [...configuration.matchAll(/limit_conn calls (\d+);/g)].map(([, most]) => Number(most));
  assert.equal(places.length, 2);
  const [, connections] = /worker_connections (\d+);/.exec(configuration) ?? [];
  assert.ok(Number(connections) > 2 * places.reduce((sum, most) => sum + most, 0));
  const [, warned] =
    /alert: FrontDoorNearlyFull[\s\S]*? expr: .* > (\d+)\n/.exec(
      readRepositoryFile('deploy/monitoring/alert-rules.yaml'),
    ) ?? [];
  assert.equal(Number(warned), 0.8 * (places[0] ?? 0));
  const [, files] = /nofile: (\d+)/.exec(readRepositoryFile('compose.yaml')) ?? [];
  assert.ok(Number(files) > Number(connections));
});

test('nginx ends its idle connections to nodes before a node ends them', async () => {
  const upstreams = readRepositoryFile('deploy/front/nginx.conf').match(/upstream \w+ {[^}]*}/g) ?? [];
  assert.equal(upstreams.length, 3);
  const { headers } = await fetch(`${service.apiUrl}/me`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  const [, kept] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? [];
  for (const upstream of upstreams) {
    const [, idle] = /keepalive_timeout (\d+)s;/.exec(upstream) ?? [];
    assert.ok(Number(idle) < Number(kept), `${idle} s at nginx, ${kept} s at a node: ${upstream}`);
  }
});
