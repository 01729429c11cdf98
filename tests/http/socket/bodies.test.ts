/** Bodies on their way in: what they cost is counted in bytes, and strangers cost none. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, describe, test } from 'node:test';
import type { RequestValue } from '../../../http/contract/exchange.ts';
import { BodyBudget } from '../../../http/socket/body-budget.ts';
import type { Server } from '../../../http/socket/server.ts';
import { metricsOf } from '../metrics/metrics-of.ts';
import { sharedService } from '../shared-service.ts';
import { type BareOptions, bareServer } from './bare-server.ts';
import { type RawConnection, rawConnections, statuses } from './raw-connection.ts';

const MADE_UP_KEY = `tm_live_${'x'.repeat(43)}`;

/** Bytes as chunks of one byte each. */
function inTinyChunks(text: string): string {
  return [...text].map((byte) => `1\r\n${byte}\r\n`).join('');
}

function head(headers: string, line = 'POST /api/v1/shops'): string {
  return `${line} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${headers}\r\n`;
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n';

describe('a listener', () => {
  const raw = rawConnections();
  const servers: Server[] = [];
  after(async () => {
    for (const server of servers) await server.close(0);
  });

  async function listening(options: Partial<BareOptions> = {}) {
    const requests: RequestValue[] = [];
    const server = await bareServer({
      answer(request) {
        requests.push(request);
        const body = request.bodyFault ?? String(request.body.length);
        return { status: 200, contentType: 'text/plain', headers: '', body: `<${body}>` };
      },
      ...options,
    });
    servers.push(server);
    const open = (): Promise<RawConnection> => raw(`http://127.0.0.1:${server.port}`);
    return { requests, open };
  }

  test('answers a small request before all the large bodies that came first', async () => {
    const { open, requests } = await listening();
    const many = await Promise.all(Array.from({ length: 30 }, open));
    const otherConnection = await open();
    const large = `${head('Content-Length: 60000\r\n')}${'x'.repeat(60_000)}`;
    // One tick: all of it lies in the kernel when the listener polls next.
    for (const connection of many) connection.write(large);
    otherConnection.write('GET /small HTTP/1.1\r\nHost: test\r\n\r\n');
    await Promise.all(
      [...many, otherConnection].map((connection) => connection.until((text) => text.includes('>'))),
    );
    assert.equal(requests.length, 31, 'each is answered');
    const before = requests.findIndex(({ path }) => path === '/small');
    assert.ok(before < 15, `${before} large ones went first`);
  });

  test('gives up a large body that waits when its caller is gone', async () => {
    const { open, requests } = await listening();
    const many = await Promise.all(Array.from({ length: 30 }, open));
    const large = `${head('Content-Length: 60000\r\n')}${'x'.repeat(60_000)}`;
    for (const connection of many) connection.write(large);
    await many[0]?.until((text) => text.includes('>'));
    for (const connection of many) connection.destroy();
    const small = await open();
    small.write('GET /small HTTP/1.1\r\nHost: test\r\n\r\n');
    await small.until((text) => text.includes('>'));
    assert.ok(requests.length <= 31);
  });

  test('keeps 60,000 chunks of one byte in 64 KiB a connection, and frees it', async () => {
    const limits = { bodies: 12, bytes: 12 * 65_536 };
    const bodies = new BodyBudget({ node: limits, tenant: limits });
    const { open, requests } = await listening({ bodies });
    const chunks = inTinyChunks('x'.repeat(60_000));
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const connection = await open();
        connection.write(`${head(CHUNKED)}${chunks}`);
        connection.write('0\r\n\r\n');
        await connection.until((text) => text.includes('<60000>'));
      }),
    );
    assert.deepEqual([bodies.bodies, bodies.bytes], [0, 0]);
    assert.equal(requests[0]?.body, 'x'.repeat(60_000));
  });

  test('reserves no memory for the announced length, only for received bytes', async () => {
    const bodies = new BodyBudget();
    const tenantAsked = new EventEmitter();
    const { open } = await listening({
      bodies,
      tenantOf() {
        tenantAsked.emit('asked');
        return 'somebody';
      },
    });
    const asked = once(tenantAsked, 'asked');
    const connection = await open();
    connection.write(`${head('Content-Length: 65536\r\n')}12345`);
    await asked;
    assert.equal(bodies.bytes, 1_024);
    connection.destroy();
  });

  test('a body in one piece takes no slot', async () => {
    const bodies = new BodyBudget({ node: { bodies: 0, bytes: 0 }, tenant: { bodies: 0, bytes: 0 } });
    const { open } = await listening({ bodies });
    const connection = await open();
    connection.write(`${head('Content-Length: 5\r\n')}12345`);
    assert.match(await connection.until((text) => text.includes('>')), /<5>$/);
  });

  for (const [row, limits] of [
    ['slots', { bodies: 1, bytes: 1_000_000 }],
    ['bytes', { bodies: 1_000, bytes: 1_500 }],
  ] as const) {
    test(`a tenant that used up its ${row} is refused, another is not, and a freed slot counts again`, async () => {
      const bodies = new BodyBudget({ node: { bodies: 1_000, bytes: 1_000_000 }, tenant: limits });
      const askedEmitter = new EventEmitter();
      const { open } = await listening({
        bodies,
        tenantOf({ headers }) {
          setImmediate(() => askedEmitter.emit('asked'));
          return headers.requestId;
        },
      });
      const begin = async (tenant: string): Promise<RawConnection> => {
        const connection = await open();
        const known = once(askedEmitter, 'asked');
        connection.write(`${head(`X-Request-Id: ${tenant}\r\nContent-Length: 5\r\n`)}123`);
        await known;
        return connection;
      };
      const slow = await begin('a');
      const refusedConnection = await begin('a');
      assert.match(await refusedConnection.until((text) => text.includes('>')), /<crowded>$/);
      const otherConnection = await begin('b');
      otherConnection.write('45');
      assert.match(await otherConnection.until((text) => text.includes('>')), /<5>$/);
      slow.write('45');
      assert.match(await slow.until((text) => text.includes('>')), /<5>$/);
      const secondConnection = await begin('a');
      secondConnection.write('45');
      assert.match(await secondConnection.until((text) => text.includes('>')), /<5>$/);
      assert.deepEqual([bodies.bodies, bodies.bytes], [0, 0]);
    });
  }

  test('a node with as many bodies in reading as it may have refuses one more, from any caller', async () => {
    const bodies = new BodyBudget({
      node: { bodies: 2, bytes: 1_000_000 },
      tenant: { bodies: 1_000, bytes: 1_000_000 },
    });
    const askedEmitter = new EventEmitter();
    let tenantCount = 0;
    const { open } = await listening({
      bodies,
      tenantOf() {
        setImmediate(() => askedEmitter.emit('asked'));
        tenantCount += 1;
        return String(tenantCount);
      },
    });
    for (let index = 0; index < 2; index += 1) {
      const known = once(askedEmitter, 'asked');
      (await open()).write(`${head('Content-Length: 5\r\n')}123`);
      await known;
    }
    const refusedConnection = await open();
    refusedConnection.write(`${head('Content-Length: 5\r\n')}123`);
    assert.match(await refusedConnection.until((text) => text.includes('>')), /<crowded>$/);
    assert.equal(bodies.bodies, 2);
  });
});

describe('a stranger', () => {
  const open = rawConnections();
  const { service, target } = sharedService();
  const raw = (url = service.apiUrl): Promise<RawConnection> => open(url);

  async function bytesKept(): Promise<number> {
    const found = /^msgapi_http_body_bytes_in_reading (\d+)$/m.exec(await metricsOf(service));
    return Number(found?.[1] ?? Number.NaN);
  }

  for (const [row, line, headers, expected] of [
    ['no key', 'POST /api/v1/shops', '', 401],
    ['a key of no shape of ours', 'POST /api/v1/shops', 'Authorization: Bearer nonsense\r\n', 401],
    ['a path that leads nowhere', 'POST /api/v1/nothing', '', 404],
    ['a method that the path has not', 'DELETE /api/v1/shops', '', 405],
  ] as const) {
    for (const framing of [CHUNKED, 'Content-Length: 60000\r\n']) {
      test(`${expected} before the body came, and the connection goes on behind it: ${row}, ${framing.slice(0, 14)}`, async () => {
        const connection = await raw();
        const isChunked = framing === CHUNKED;
        connection.write(head(`${headers}${framing}`, line));
        assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [expected]);
        const body = 'x'.repeat(60_000);
        connection.write(isChunked ? `${inTinyChunks(body)}0\r\n\r\n` : body);
        connection.write('GET /api/v1/nothing HTTP/1.1\r\nHost: test\r\n\r\n');
        const received = await connection.until((text) => statuses(text).length > 1 && text.endsWith('}}'));
        assert.deepEqual(statuses(received), [expected, 404]);
      });
    }
  }

  test('401 before the body is complete if the key does not exist; nothing of it is kept', async () => {
    const connection = await raw();
    connection.write(
      `${head(`Authorization: Bearer ${MADE_UP_KEY}\r\n${CHUNKED}`)}${inTinyChunks('{"name":')}`,
    );
    assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [401]);
    assert.equal(await bytesKept(), 0);
  });

  test('without the operators’ token is answered before its body came', async () => {
    const connection = await raw(service.adminUrl);
    connection.write(head('Content-Length: 60000\r\n', 'POST /admin/v1/tenants'));
    assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [401]);
  });

  test('with 200 connections of unended heads: no request is in progress, others are served', async () => {
    const floods = Array.from({ length: 200 }, async (_, index) => {
      const connection = await raw();
      const lines = Array.from({ length: 60 }, (_item, line) => `X-${line}: ${'a'.repeat(40)}\r\n`).join('');
      connection.write(
        `POST /api/v1/shops HTTP/1.1\r\nHost: test\r\n${lines}${index % 2 === 0 ? '\r\n' : ''}`,
      );
      return connection;
    });
    await Promise.all(floods);
    const { key } = await target.tenant();
    assert.equal((await target.api.call('GET', '/me', { key })).status, 200);
    assert.equal(await bytesKept(), 0);
    assert.match(
      await metricsOf(service),
      /^msgapi_http_requests_in_hand 1$/m,
      'only the call for the metrics themselves',
    );
  });
});
