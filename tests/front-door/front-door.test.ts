/**
 * The proxy of compose.yaml with an nginx of this machine: the calls that it forwards, and those that it repeats. Also
 * the answers of a node to a proxy with default settings.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { sharedService } from '../http/shared-service.ts';
import type { TestTenant } from '../http/target.ts';
import { freePorts } from '../testbed/free-ports.ts';
import { behindNginx, type NginxFront } from './nginx-front.ts';

let tenant: TestTenant;
let node: number;
const { service, target } = sharedService({}, async () => {
  tenant = await target.tenant({ plan: 'scale' });
  node = Number(new URL(service.apiUrl).port);
});

const makeShop = ({ url }: NginxFront, body: string): Promise<Response> =>
  fetch(`${url}/api/v1/shops`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    body,
  });

/** A node that takes each request and breaks the connection off instead of an answer. */
async function breakingNode(): Promise<{
  readonly port: number;
  readonly taken: readonly string[];
  close(): void;
}> {
  const taken: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      taken.push(head.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, taken, close: () => server.close() };
}

test('a call goes through, and its answer comes back as the node gave it', () =>
  behindNginx([node, node], async (front) => {
    const createdResponse = await makeShop(front, '{"name":"behind nginx"}');
    assert.equal(createdResponse.status, 201);
    assert.match(String(createdResponse.headers.get('location')), /^\/api\/v1\/shops\/[0-9a-f]{24}$/);
    const head = await fetch(`${front.url}/openapi.json`, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('uwebsockets'), null);
    assert.ok(Number(head.headers.get('content-length')) > 10_000);
  }));

test('a proxy that does not use HTTP/1.1 is answered 505', () =>
  behindNginx(
    [node, node],
    async (front) => {
      assert.equal((await makeShop(front, '{"name":"by HTTP/1.0"}')).status, 505);
    },
    { change: (configuration) => configuration.replace('proxy_http_version 1.1;', '') },
  ));

test('a POST that a node had taken when it broke off is not repeated at the other; a GET is', async (context) => {
  const nodes = [await breakingNode(), await breakingNode()] as const;
  const taken = (): string[] => nodes.flatMap((each) => each.taken);
  const ports = [nodes[0].port, nodes[1].port] as const;
  context.after(() => {
    for (const each of nodes) each.close();
  });
  const answer = await behindNginx(ports, (front) => makeShop(front, '{"name":"broken off"}'));
  assert.deepEqual(taken(), ['POST /api/v1/shops HTTP/1.1']);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.ok(answer.headers.get('x-request-id'));
  await behindNginx(ports, (front) => fetch(`${front.url}/api/v1/me`));
  assert.deepEqual(taken().slice(-2), ['GET /api/v1/me HTTP/1.1', 'GET /api/v1/me HTTP/1.1']);
  assert.equal(taken().length, 3);
});

test('a POST that reached no node goes to the other one', async () => {
  const [nobody = 0] = await freePorts(1);
  for (const nodes of [
    [nobody, node],
    [node, nobody],
  ] as const) {
    const createdResponse = await behindNginx(nodes, (front) =>
      makeShop(front, `{"name":"second node ${nodes[0]}"}`),
    );
    assert.equal(createdResponse.status, 201);
  }
});
