import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplyStream } from '../../../http/contract/exchange.ts';
import { callerAddress } from '../../../http/pipeline/caller-address.ts';
import { eventually } from '../../testbed/waiting.ts';
import { metricsOf } from '../metrics/metrics-of.ts';
import { sharedService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';
import { bareServer } from './bare-server.ts';
import { openRaw, type RawConnection, rawConnections, statuses } from './raw-connection.ts';

/** After which uWebSockets.js ends a connection on which nothing comes, at the earliest. */
const IDLE_LIMIT_MS = 8_000;

const HOST = 'Host: test\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

describe('bytes on a socket', () => {
  let owner: TestTenant;
  let auth: string;
  const open = rawConnections();
  const { service, target } = sharedService({}, async () => {
    owner = await target.tenant({ plan: 'scale' });
    auth = `Authorization: Bearer ${owner.key}\r\n`;
  });
  const raw = (): Promise<RawConnection> => open(service.apiUrl);
  /** Returns the statuses of the replies to these bytes, once the connection is closed. */
  const statusesOf = async (bytes: string): Promise<number[]> => {
    const connection = await raw();
    connection.write(bytes);
    return statuses(await connection.closed());
  };

  const post = (body: string, headers = `Content-Length: ${body.length}\r\n`): string =>
    `POST /api/v1/shops HTTP/1.1\r\n${HOST}${auth}${JSON_TYPE}${headers}\r\n${body}`;

  test('a head and a body in pieces are one request', async () => {
    const connection = await raw();
    const bytes = post('{"name":"in pieces"}');
    for (const piece of [bytes.slice(0, 9), bytes.slice(9, 60), bytes.slice(60, -5), bytes.slice(-5)]) {
      connection.write(piece);
      await nextTurn();
    }
    assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [201]);
  });

  test('a chunked body is one request', async () => {
    const connection = await raw();
    connection.write(post('9\r\n{"name":"\r\n9\r\nchunked"}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'));
    assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [201]);
  });

  test('returns the idle time of a connection, unless it ends with the reply', async () => {
    const openConnection = await raw();
    openConnection.write(`GET /api/v1/nothing HTTP/1.1\r\n${HOST}\r\n`);
    assert.match(await openConnection.until((text) => text.includes('}}')), /\r\nKeep-Alive: timeout=8\r\n/);
    const ending = await raw();
    ending.write(post('', 'Content-Length: 70000\r\n'));
    assert.doesNotMatch(await ending.closed(), /Keep-Alive/);
  });

  test('a chunked body over 64 KiB is 413 and the connection closes', async () => {
    assert.deepEqual(
      await statusesOf(post(`11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n')),
      [413],
    );
  });

  test('a body announced over 64 KiB is 413 before it is sent, and the connection closes', async () => {
    assert.deepEqual(await statusesOf(post('', 'Content-Length: 70000\r\n')), [413]);
  });

  test('pipelined requests that are answered without waiting come back in order', async () => {
    const connection = await raw();
    const one = (id: string): string =>
      `GET /api/v1/me HTTP/1.1\r\n${HOST}${auth}X-Request-Id: ${id}\r\n\r\n`;
    connection.write(one('first') + one('second') + one('third'));
    const received = await connection.until((text) => text.includes('third') && text.endsWith('}}'));
    assert.deepEqual(statuses(received), [200, 200, 200]);
    assert.ok(received.indexOf('first') < received.indexOf('second'));
    assert.ok(received.indexOf('second') < received.indexOf('third'));
  });

  test('a pipelined request behind one that waits closes the connection', async () => {
    const release = service.calls.hold('createShop');
    assert.deepEqual(await statusesOf(post('{"name":"slow one"}') + post('{"name":"behind it"}')), []);
    release();
    const statusOf = async (name: string) =>
      (await target.api.call('GET', `/shops/${name}`, { key: owner.key })).status;
    await eventually(async () => (await statusOf('slow%20one')) === 200);
    assert.equal(await statusOf('behind%20it'), 404);
  });

  for (const lengths of [
    'Content-Length: 13\r\nContent-Length: 13\r\n',
    'Content-Length: 13\r\ncontent-length: 2\r\n',
  ]) {
    test(`a repeated Content-Length is 422 and the connection closes: ${JSON.stringify(lengths)}`, async () => {
      const connection = await raw();
      connection.write(post('{"name":"abc"}', lengths));
      const received = await connection.closed();
      assert.deepEqual(statuses(received), [422]);
      assert.match(received, /content-length/);
    });
  }

  for (const [row, headers] of [
    ['Content-Length beside Transfer-Encoding', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['a list for a Content-Length', 'Content-Length: 5, 5\r\n'],
    ['a Content-Length that is no number', 'Content-Length: five\r\n'],
    ['a negative Content-Length', 'Content-Length: -5\r\n'],
  ] as const) {
    test(`${row} is 400 and the connection closes`, async () => {
      assert.deepEqual(await statusesOf(post('0\r\n\r\n', headers)), [400]);
    });
  }

  const hidden = `GET /api/v1/hidden HTTP/1.1\r\n${HOST}\r\n`;
  for (const headers of [
    `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`,
    `Content-Length: 5\r\nContent-Length: ${hidden.length}\r\n`,
    `Content-Length:\r\nContent-Length: ${hidden.length}\r\n`,
    'Content-Length:\r\n',
  ]) {
    test(`the bytes behind ${JSON.stringify(headers)} are no request, and the connection closes`, async () => {
      assert.deepEqual(
        await statusesOf(post(headers.startsWith('Content-Length: 5') ? `12345${hidden}` : hidden, headers)),
        [],
      );
      assert.deepEqual(await statusesOf(post('', headers)), [422]);
    });
  }

  for (const [line, status] of [
    ['PUT /api/v1/shops', 405],
    ['OPTIONS /api/v1/shops', 405],
    ['BREW /api/v1/shops', 405],
    ['POST /api/v1/nothing', 404],
    ['GET /api/v1/nothing', 404],
  ] as const) {
    test(`${line} with a repeated Content-Length is ${status}, and what comes behind it is no request`, async () => {
      const connection = await raw();
      connection.write(`${line} HTTP/1.1\r\n${HOST}Content-Length: 5\r\nContent-Length: 0\r\n\r\n`);
      await connection.until((text) => text.includes('}'));
      connection.write(`xxxxx${hidden}`);
      assert.deepEqual(statuses(await connection.closed()), [status]);
    });
  }

  for (const coding of ['gzip, chunked', 'identity', 'xchunked']) {
    test(`a body in the coding ${coding} is read as chunks or refused, and its bytes are no request`, async () => {
      assert.deepEqual(
        await statusesOf(post(post('{"name":"smuggled"}'), `Transfer-Encoding: ${coding}\r\n`)),
        [400],
      );
      assert.equal((await target.api.call('GET', '/shops/smuggled', { key: owner.key })).status, 404);
    });
  }

  test('a malformed chunk is 400, the connection closes and nothing is done', async () => {
    assert.deepEqual(
      await statusesOf(post('zz\r\n{"name":"bad chunk"}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n')),
      [400],
    );
    assert.equal((await target.api.call('GET', '/shops/bad%20chunk', { key: owner.key })).status, 404);
  });

  test('a connection that breaks in mid-body: nothing is done and no call is left in progress', async () => {
    const connection = await raw();
    connection.write(post('{"name":"half', 'Content-Length: 40\r\n'));
    await nextTurn();
    connection.destroy();
    assert.equal((await target.api.call('GET', '/shops/half', { key: owner.key })).status, 404);
    const metrics = await metricsOf(service);
    assert.match(metrics, /^msgapi_http_requests_in_hand 1$/m, 'only the call for the metrics themselves');
  });

  test('a caller that goes away while it waits: the request is finished and logged all the same', async () => {
    const release = service.calls.hold('createShop');
    const connection = await raw();
    const begun = service.calls.begins('createShop');
    connection.write(post('{"name":"gone"}'));
    await begun;
    connection.destroy();
    release();
    const made = () => target.api.call('GET', '/shops/gone', { key: owner.key });
    await eventually(async () => (await made()).status === 200);
  });

  test('Expect: 100-continue is answered with 100, then the reply', async () => {
    const connection = await raw();
    connection.write(post('', 'Content-Length: 15\r\nExpect: 100-continue\r\n'));
    await connection.until((text) => text.includes('100 Continue'));
    connection.write('{"name":"exp1"}');
    assert.deepEqual(statuses(await connection.until((text) => text.includes('}'))), [201]);
  });

  test("a method that no route has, also of the caller's own making, is 405, and metrics know it as OTHER", async () => {
    for (const method of ['TRACE', 'BREW', 'get']) {
      const connection = await raw();
      connection.write(`${method} /api/v1/me HTTP/1.1\r\n${HOST}\r\n`);
      const received = await connection.until((text) => text.includes('}'));
      assert.deepEqual(statuses(received), [405]);
      assert.match(received, /\r\nAllow: GET, HEAD\r\n/);
    }
    const metrics = await metricsOf(service);
    assert.match(metrics, /msgapi_http_requests_total\{method="OTHER",route="\/me",status="405"\} 3/);
  });

  for (const [row, bytes, status] of [
    ['HTTP/1.0', `GET /api/v1/me HTTP/1.0\r\n${HOST}\r\n`, 505],
    ['HTTP/2.0', `GET /api/v1/me HTTP/2.0\r\n${HOST}\r\n`, 505],
    ['no Host', 'GET /api/v1/me HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', `GET /api/v1/me HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
    ['an absolute target', `GET http://test/api/v1/me HTTP/1.1\r\n${HOST}\r\n`, 505],
    ['noise', '\x16\x03\x01\x02', 505],
    ['a folded header', `GET /api/v1/me HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`, 400],
    ['a space before the colon', `GET /api/v1/me HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`, 400],
    ['a NUL in a header', `GET /api/v1/me HTTP/1.1\r\n${HOST}X-A: b\0c\r\n\r\n`, 400],
    ['a head of 99 lines', `GET /api/v1/me HTTP/1.1\r\n${HOST}${'X-A: 1\r\n'.repeat(98)}\r\n`, 431],
    ['a head of 9 KB', `GET /api/v1/me HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(9_000)}\r\n\r\n`, 431],
    ['a head of 100 KB', `GET /api/v1/me HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ] as const) {
    test(`${row} is ${status} at once, and the connection closes`, async () => {
      const connection = await raw();
      connection.write(bytes);
      const startedMs = performance.now();
      assert.deepEqual(statuses(await connection.closed()), [status]);
      assert.ok(performance.now() - startedMs < IDLE_LIMIT_MS, 'not by the idle limit');
    });
  }

  test('a head of 98 header lines is read', async () => {
    const connection = await raw();
    connection.write(`GET /api/v1/nothing HTTP/1.1\r\n${HOST}${'X-A: 1\r\n'.repeat(97)}\r\n`);
    assert.deepEqual(statuses(await connection.until((text) => text.includes('NOT_FOUND'))), [404]);
  });

  test('a target of 8,000 bytes is read (RFC 9112, 3)', async () => {
    const connection = await raw();
    connection.write(`GET /${'a'.repeat(7_999)} HTTP/1.1\r\n${HOST}\r\n`);
    assert.deepEqual(statuses(await connection.until((text) => text.includes('NOT_FOUND'))), [404]);
  });

  // uWebSockets.js closes a stalled connection after its idle limit of about ten seconds. These wait for that close
  // together, so the suite waits for it once.
  test('never hangs: slow heads and bodies, idle connections', async () => {
    const cases: readonly (readonly [row: string, bytes: string, expected: readonly number[]])[] = [
      ['a head that stops', 'GET /api/v1/me HT', []],
      ['a body that stops', post('{"na', 'Content-Length: 40\r\n'), []],
      // The parser reads the extension as digits of the size, and waits for the rest
      // (docs/decisions/015-http-server-and-router.md).
      ['a chunk extension', post('9;a=b\r\n{"name":"\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'), []],
      ['idle after a reply', `GET /api/v1/nothing HTTP/1.1\r\n${HOST}\r\n`, [404]],
    ];
    await Promise.all(
      cases.map(async ([row, bytes, expected]) => {
        const connection = await raw();
        connection.write(bytes);
        assert.deepEqual(statuses(await connection.closed()), expected, row);
      }),
    );
  });
});

describe('a caller that resets its connection', () => {
  for (const [row, others, expectedPattern] of [
    ['the rest of them come with the address that all have', [], /^(127.0.0.1 ?){4}$/],
    ['beside another it is theirs or none', ['127.0.0.2'], /^127.0.0.1 (127.0.0.1)? (127.0.0.1)? 127.0.0.1$/],
  ] as const) {
    test(`while requests of it are being answered: ${row}, and the server continues`, () =>
      answeredAfterReset(others, expectedPattern));
  }

  async function answeredAfterReset(others: readonly string[], expectedPattern: RegExp): Promise<void> {
    const addresses: string[] = [];
    let connection: RawConnection | undefined;
    const server = await bareServer({
      callerAddress: callerAddress(['127.0.0.1']),
      answer({ ip }) {
        addresses.push(ip);
        connection?.reset();
        return { status: 200, contentType: 'text/plain', headers: '', body: 'here' };
      },
    });
    const url = `http://127.0.0.1:${server.port}`;
    const beside = await Promise.all(others.map((address) => openRaw(url, address)));
    connection = await openRaw(url);
    connection.write(`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(3));
    await connection.closed();
    connection = undefined;
    assert.equal((await fetch(url)).status, 200);
    for (const otherConnection of beside) otherConnection.destroy();
    await server.close(0);
    assert.match(addresses.join(' '), expectedPattern);
  }
});

describe('a caller behind a proxy that adds another line', () => {
  const MADE_UP = '203.0.113.5';
  const SEEN = '198.51.100.66';

  async function believed(trustedProxies: readonly string[], lines: readonly string[]): Promise<string[]> {
    const addresses: string[] = [];
    const server = await bareServer({
      callerAddress: callerAddress(trustedProxies),
      answer({ ip }) {
        addresses.push(ip);
        return { status: 200, contentType: 'text/plain', headers: '', body: '' };
      },
    });
    const connection = await openRaw(`http://127.0.0.1:${server.port}`);
    const forwarded = lines.map((line) => `X-Forwarded-For: ${line}\r\n`).join('');
    connection.write(`GET / HTTP/1.1\r\n${HOST}${forwarded}\r\n`);
    await connection.until((text) => text.includes('\r\n\r\n'));
    connection.destroy();
    await server.close(0);
    return addresses;
  }

  for (const [row, lines, expected] of [
    ["the last line is the proxy's, whatever the caller wrote in its own", [MADE_UP, SEEN], SEEN],
    ['one joined line is read the same', [`${MADE_UP}, ${SEEN}`], SEEN],
    ['an empty first line hides nothing', ['', SEEN], SEEN],
    ['the walk goes on past the proxies of the last line', [`${MADE_UP}, ${SEEN}`, '127.0.0.2'], SEEN],
    ['no line at all: the proxy itself', [], '127.0.0.1'],
  ] as const)
    test(row, async () => assert.deepEqual(await believed(['127.0.0.0/8'], lines), [expected]));

  for (const method of ['GET', 'POST']) {
    test(`${method} with an empty Content-Length before another: the connection closes, and its bytes are no request`, async () => {
      const asked: unknown[] = [];
      const server = await bareServer({
        callerAddress: callerAddress(['127.0.0.0/8']),
        answer({ path, bodyFault }) {
          asked.push([path, bodyFault]);
          return { status: 200, contentType: 'text/plain', headers: '', body: 'here' };
        },
      });
      const hidden = `GET /hidden HTTP/1.1\r\n${HOST}\r\n`;
      const connection = await openRaw(`http://127.0.0.1:${server.port}`);
      connection.write(
        `${method} / HTTP/1.1\r\n${HOST}Content-Length:\r\nContent-Length: ${hidden.length}\r\n\r\n`,
      );
      await connection.until((text) => text.includes('here'));
      connection.write(hidden);
      await connection.closed();
      await server.close(0);
      assert.deepEqual(asked, [['/', 'length_repeated']]);
    });
  }

  test('X-Forwarded-For is ignored if no proxy is trusted', async () => {
    assert.deepEqual(await believed([], [MADE_UP, SEEN]), ['127.0.0.1']);
  });
});

describe('a reader of a stream', () => {
  test('that takes less than is written: what it has not taken is counted', async () => {
    let openedStream: ReplyStream | undefined;
    const began = new EventEmitter();
    const server = await bareServer({
      answer: () => ({
        status: 200,
        contentType: 'text/event-stream',
        headers: '',
        body: '',
        stream(stream) {
          openedStream = stream;
          began.emit('stream');
        },
      }),
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.pause();
    const streaming = once(began, 'stream');
    socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    await streaming;
    const writtenBytes = 40 * 1024 * 1024;
    openedStream?.write('x'.repeat(writtenBytes));
    // More than both kernels hold, so some of what was buffered is taken.
    let leftBytes = writtenBytes;
    while (leftBytes > writtenBytes - 12 * 1024 * 1024) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) await once(socket, 'readable');
      else leftBytes -= chunk.length;
    }
    openedStream?.write('and more');
    const countedBytes = openedStream?.bufferedBytes() ?? 0;
    socket.destroy();
    await server.close(0);
    assert.ok(countedBytes > leftBytes - 12 * 1024 * 1024, `${countedBytes} of ${leftBytes}`);
  });
});
