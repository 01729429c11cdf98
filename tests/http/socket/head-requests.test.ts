/**
 * HEAD, byte by byte. It gets the head of GET's reply and no body. The connection goes on, or ends where its lengths
 * lie.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ADMIN_TOKEN } from '../service-fixture.ts';
import { sharedService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';
import { bareServer } from './bare-server.ts';
import { openRaw, type RawConnection, rawConnections, statuses } from './raw-connection.ts';

/** After which uWebSockets.js ends a connection on which nothing comes, at the earliest. */
const IDLE_LIMIT_MS = 8_000;

const HOST = 'Host: test\r\n';

describe('HEAD', () => {
  let owner: TestTenant;
  let auth: string;
  const open = rawConnections();
  const { service, target } = sharedService({}, async () => {
    owner = await target.tenant({ plan: 'scale' });
    auth = `Authorization: Bearer ${owner.key}\r\n`;
  });
  const raw = (url = service.apiUrl): Promise<RawConnection> => open(url);

  test('is a GET without the body, on a connection that continues', async () => {
    const heads = async (path: string, headers: string): Promise<{ got: string; head: string }> => {
      const connection = await raw();
      connection.write(`GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`);
      const got = await connection.until((text) => text.includes('\r\n\r\n'));
      const askedConnection = await raw();
      askedConnection.write(`HEAD ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`.repeat(2));
      // The bytes after the second head show that neither had a body.
      askedConnection.write(`GET /api/v1/nothing HTTP/1.1\r\n${HOST}\r\n`);
      const received = await askedConnection.until((text) => text.includes('"NOT_FOUND"'));
      const [first = '', second = '', third = ''] = received.split('\r\n\r\n');
      assert.match(third, /^HTTP\/1.1 404 /, path);
      assert.equal(remaining(first) - remaining(second), headers === '' ? 0 : 1, 'counted');
      return { got: got.slice(0, got.indexOf('\r\n\r\n')), head: first };
    };
    const remaining = (head: string): number => Number(/Remaining: (\d+)/.exec(head)?.[1] ?? 0);
    const same = (head: string): string[] =>
      head
        .split('\r\n')
        .filter((line) => !/^(X-Request-Id|X-RateLimit-(Remaining|Reset)|Date):/i.test(line))
        .sort();
    const cases = [
      ['/api/v1/docs', auth],
      ['/api/v1/shops/none', auth],
      ['/api/v1/me', ''],
      ['/openapi.json', ''],
      ['/reference', ''],
    ] as const;
    for (const [path, headers] of cases) {
      const { got, head } = await heads(path, headers);
      assert.deepEqual(same(head), same(got), path);
      assert.doesNotMatch(got, /uWebSockets/i, path);
      assert.match(head, /\r\nContent-Length: [1-9]\d+/, path);
    }
  });

  test('on the event stream opens none', async () => {
    const connection = await raw(service.adminUrl);
    const token = `Authorization: Bearer ${ADMIN_TOKEN}\r\n`;
    connection.write(`HEAD /admin/v1/events HTTP/1.1\r\n${HOST}${token}\r\n`);
    connection.write(`GET /admin/v1/nothing HTTP/1.1\r\n${HOST}${token}\r\n`);
    const received = await connection.until((text) => text.includes('NOT_FOUND'));
    assert.deepEqual(statuses(received), [200, 404]);
    assert.match(received, /text\/event-stream/);
    assert.doesNotMatch(received, /retry: 1000/);
  });

  test('on a path without GET is 405 without a body', async () => {
    const connection = await raw();
    connection.write(`HEAD /api/v1/shops/x/statuses HTTP/1.1\r\n${HOST}\r\n`);
    connection.write(`GET /api/v1/nothing HTTP/1.1\r\n${HOST}\r\n`);
    const received = await connection.until((text) => text.includes('NOT_FOUND'));
    assert.deepEqual(statuses(received), [405, 404]);
    assert.doesNotMatch(received, /METHOD_NOT_ALLOWED/);
  });

  for (const [row, length, status] of [
    ['a repeated Content-Length', 'Content-Length: 5\r\nContent-Length: 0\r\n', 422],
    ['a body over 64 KiB', 'Content-Length: 70000\r\n', 413],
  ] as const) {
    test(`with ${row} is ${status}, and the connection closes`, async () => {
      const connection = await raw();
      connection.write(`HEAD /api/v1/me HTTP/1.1\r\n${HOST}${auth}${length}\r\n`);
      const startedMs = performance.now();
      const received = await connection.closed();
      assert.deepEqual(statuses(received), [status]);
      assert.match(received, /\r\nContent-Length: [1-9]\d+\r\n\r\n$/);
      assert.equal(received.match(/\r\nConnection: close\r\n/g)?.length, 1);
      assert.ok(performance.now() - startedMs < IDLE_LIMIT_MS, 'not by the idle limit');
    });

    test(`with ${row}: what follows it is no request`, async () => {
      const connection = await raw();
      const body = `{"name":"behind ${status}"}`;
      const head = `POST /api/v1/shops HTTP/1.1\r\n${HOST}${auth}Content-Type: application/json\r\n`;
      const hidden = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
      connection.write(`HEAD /api/v1/me HTTP/1.1\r\n${HOST}${auth}${length}\r\nxxxxx${hidden}`);
      await connection.closed();
      assert.equal(
        (await target.api.call('GET', `/shops/behind%20${status}`, { key: owner.key })).status,
        404,
      );
    });
  }
});

describe('HEAD whose answer takes time and ends the connection', () => {
  test('has the head of the reply, and the connection closes', async () => {
    const server = await bareServer({
      answer: async () => ({
        status: 200,
        contentType: 'text/plain',
        headers: '',
        body: 'twelve bytes',
        closesConnection: true,
      }),
    });
    const connection = await openRaw(`http://127.0.0.1:${server.port}`);
    connection.write(`HEAD / HTTP/1.1\r\n${HOST}\r\n`);
    const received = await connection.closed();
    assert.deepEqual(statuses(received), [200]);
    assert.match(received, /\r\nConnection: close\r\n.*\r\nContent-Length: 12\r\n\r\n$/s);
    await server.close(0);
  });
});
