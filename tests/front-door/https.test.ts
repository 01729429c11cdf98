/**
 * HTTPS in front of the proxy, both ways of docs/tls.md, with a certificate of an authority that the client alone
 * trusts. Calls, waits and streams go through.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { sharedService } from '../http/shared-service.ts';
import { type EventAccount, eventAccount } from '../http/tenant-api/event-account.ts';
import { until } from '../testbed/waiting.ts';
import { startCaddy } from './caddy-front.ts';
import { balancerBefore, type HttpsEdge, httpsCall } from './https-edge.ts';
import { behindNginx } from './nginx-front.ts';
import { testCertificate } from './test-certificate.ts';

const certificate = testCertificate();
after(() => certificate.remove());
const { service, target } = sharedService();

/** Runs something behind an edge and the proxy, and stops both afterwards. */
type Behind = (ask: (edge: HttpsEdge) => Promise<void>) => Promise<void>;

const nodePorts = (): [number, number] => {
  const node = Number(new URL(service.apiUrl).port);
  return [node, node];
};

const behindBalancer: Behind = async (ask) => {
  const { edges, change } = await balancerBefore(certificate, { address: '127.0.0.1' });
  await behindNginx(nodePorts(), () => ask(edges[0]), { change });
};

const behindCaddy: Behind = (ask) =>
  behindNginx(nodePorts(), async (front) => {
    const caddy = await startCaddy(front.url, certificate);
    try {
      await ask(caddy);
    } finally {
      await caddy.stop();
    }
  });

const call = (edge: HttpsEdge, path: string, { owner }: EventAccount, options: object = {}) =>
  httpsCall(edge, `/api/v1${path}`, { token: owner.key, ...options });

/** Reads a stream until the text is there. */
async function readsUntil(stream: Readable, wanted: string): Promise<void> {
  let text = '';
  for await (const bytes of stream.iterator({ destroyOnReturn: false })) {
    text += bytes;
    if (text.includes(wanted)) return;
  }
  assert.fail(`the stream ended before ${wanted}: ${text}`);
}

async function makesCalls(edge: HttpsEdge, account: EventAccount): Promise<void> {
  const madeMessage = await call(edge, '/shops', account, { method: 'POST', body: { name: 'By HTTPS' } });
  assert.equal(madeMessage.statusCode, 201);
  const { data } = (await json(madeMessage)) as { data: { id: string } };
  const read = await call(edge, String(madeMessage.headers.location).replace('/api/v1', ''), account);
  assert.deepEqual(((await json(read)) as { data: { id: string } }).data.id, data.id);
  const operators = await httpsCall(edge, '/admin/v1/me', { token: account.owner.key });
  operators.resume();
  assert.equal(operators.statusCode, 404, 'the operators’ API is not reached from outside');
}

async function refusesStrangers({ port }: HttpsEdge, { owner }: EventAccount): Promise<void> {
  // A client with the authorities of Node.
  const unknown = httpsCall({ port } as HttpsEdge, '/api/v1/me', { token: owner.key });
  await assert.rejects(unknown, { code: /^UNABLE_TO_|^SELF_SIGNED_/ });
}

async function waitsForAnEvent(edge: HttpsEdge, account: EventAccount): Promise<void> {
  const waiting = call(edge, '/events?waitMs=30000', account);
  await until('the call waits', () => Promise.resolve(service.eventWaiters.count === 1));
  await account.store(1);
  const answer = await waiting;
  assert.equal(answer.statusCode, 200);
  assert.equal(((await json(answer)) as { data: { items: unknown[] } }).data.items.length, 1);
}

async function streamsEvents(edge: HttpsEdge, account: EventAccount): Promise<void> {
  const headers = { accept: 'text/event-stream' };
  const stream = await call(edge, '/events', account, { headers });
  assert.equal(stream.statusCode, 200);
  await readsUntil(stream, 'retry:');
  await account.store(1);
  await readsUntil(stream, 'recipient.opted_out');
  stream.destroy();
}

async function redirectsPlainCalls({ plainUrl }: HttpsEdge): Promise<void> {
  const { host } = new URL(plainUrl);
  const answer = await fetch(`http://localhost:${host.split(':')[1]}/docs?of=1`, { redirect: 'manual' });
  assert.equal(answer.status, 308);
  assert.match(String(answer.headers.get('location')), /^https:\/\/localhost(?::\d+)?\/docs\?of=1$/);
}

for (const [name, proxy] of [
  ['the nginx server of docs/tls.md', behindBalancer],
  ['the profile tls with an own certificate', behindCaddy],
] as const) {
  test(`${name}: a client that trusts its authority calls, waits for events and streams them`, () =>
    proxy(async (edge) => {
      const account = await eventAccount(service, target);
      await makesCalls(edge, account);
      await refusesStrangers(edge, account);
      await waitsForAnEvent(edge, account);
      await streamsEvents(edge, account);
      await redirectsPlainCalls(edge);
    }));
}

test('the profile tls speaks HTTP/2: a stream of events and a call share a connection', () =>
  behindCaddy(async ({ port, ca }) => {
    const account = await eventAccount(service, target);
    const session = connect(`https://localhost:${port}`, { ca });
    try {
      const ask = async (path: string, accept: string) => {
        const authorization = `Bearer ${account.owner.key}`;
        const stream = session.request({ ':path': `/api/v1${path}`, authorization, accept });
        const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
        assert.equal(head[':status'], 200);
        return stream;
      };
      const events = await ask('/events', 'text/event-stream');
      await readsUntil(events, 'retry:');
      const me = (await json(await ask('/me', 'application/json'))) as { data: { tenant: { id: string } } };
      assert.equal(me.data.tenant.id, account.owner.id);
      await account.store(1);
      await readsUntil(events, 'recipient.opted_out');
      assert.equal(session.alpnProtocol, 'h2');
    } finally {
      session.destroy();
    }
  }));
