/** Connections through real proxies: a SOCKS5 one and an HTTP one, each with a user and a password. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readEgressAddress } from '../../../actors/egress-address.ts';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { egressThrough } from '../../../actors/outbound/egress.ts';
import { egressProblem, reachThrough } from '../../../actors/outbound/egress-check.ts';
import { EgressFailure } from '../../../actors/outbound/egress-failure.ts';
import { guardedRequest } from '../../../actors/outbound/guarded-request.ts';
import {
  fetchMedia,
  MediaUnavailable,
} from '../../../actors/sessions/worker-thread/attachments/media-fetch.ts';
import { createCertificate } from '../../../simulator/media/media-certificate.ts';
import { type EgressProxy, startHttpProxy, startSocksProxy } from '../../testbed/egress-proxies.ts';
import { listening } from '../../testbed/listening.ts';

const requireOfPackages = createRequire(createRequire(import.meta.url).resolve('socks'));

const proxies: EgressProxy[] = [];
const folder = mkdtempSync(join(tmpdir(), 'egress-'));
const seen: string[] = [];
let site: Server;
let secureSite: Server;
let ca: string;

before(async () => {
  proxies.push(await startSocksProxy('127.0.0.8'), await startHttpProxy('127.0.0.9'));
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    seen.push(request.socket.remoteAddress ?? '');
    response.writeHead(200, { 'content-type': 'application/pdf' });
    response.end('%PDF-1.4 prices');
  };
  site = createServer(answer);
  const certificate = createCertificate();
  ({ ca } = certificate);
  secureSite = createSecureServer({ cert: certificate.cert, key: certificate.key }, answer);
  await Promise.all([site, secureSite].map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
});
after(async () => {
  site.close();
  secureSite.close();
  await Promise.all(proxies.map((proxy) => proxy.kill()));
  rmSync(folder, { recursive: true, force: true });
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const through = (url: string) => {
  const address = readEgressAddress(url);
  assert.ok(address, url);
  return egressThrough(address);
};
const guard = new AddressGuard({ allowLoopback: true, deniedRanges: [] });
const nobodyResolves = async (hostname: string): Promise<never> => {
  throw new Error(`${hostname} was looked up here`);
};
const askThrough = (proxy: string, target: string, trusted: { ca?: string } = {}) =>
  guardedRequest(
    new URL(target),
    { guard, resolve: nobodyResolves, egress: through(proxy), signal: AbortSignal.timeout(10_000) },
    { headers: {}, ...trusted },
  );

test('both kinds of proxy look the name up and connect, over TLS too, with no stack to read the protocol off', async (context) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  context.after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  for (const { url, from } of proxies) {
    seen.length = 0;
    const plainMessage = await askThrough(url, `http://localhost:${portOf(site)}/`);
    plainMessage.destroy();
    const secure = await askThrough(url, `https://localhost:${portOf(secureSite)}/`, { ca });
    secure.destroy();
    assert.deepEqual([plainMessage.statusCode, secure.statusCode], [200, 200]);
    assert.deepEqual(seen, [from, from]);
    await reachThrough(through(url), `ws://localhost:${portOf(site)}/ws/chat`, AbortSignal.timeout(10_000));
  }
});

test('an attachment comes through the proxy, and its failures are distinguished', async () => {
  for (const { url, from } of proxies) {
    seen.length = 0;
    const fetched = (proxy: string, port: number) =>
      fetchMedia({
        tenantId: 'tenant',
        url: `http://localhost:${port}/prices.pdf`,
        mediaType: 'document',
        timeoutMs: 10_000,
        guard,
        resolve: nobodyResolves,
        egress: through(proxy),
      });
    const media = await fetched(url, portOf(site));
    await media.discard();
    assert.deepEqual(seen, [from]);
    const closedServer = createTcpServer();
    const port = await listening(closedServer);
    await once(closedServer.close(), 'close');
    await assert.rejects(fetched(url, port), (error: Error) => {
      assert.ok(error instanceof MediaUnavailable);
      return /could not be fetched: the egress made no connection/.test(error.message);
    });
    await assert.rejects(fetched(url.replace('way-out', 'no-way'), portOf(site)), (error: Error) => {
      assert.ok(error instanceof EgressFailure && error.isProxy);
      return error.message === 'the egress refuses the user name and password';
    });
  }
});

test('a proxy that is away is reported as such, and no failure contains its password', async () => {
  const closedServer = createTcpServer();
  const port = await listening(closedServer);
  await once(closedServer.close(), 'close');
  for (const kind of ['socks5', 'http']) {
    const dead = `${kind}://u:s3cret@127.0.0.1:${port}`;
    const told: EgressFailure[] = [];
    const address = readEgressAddress(dead);
    assert.ok(address);
    const egress = egressThrough(address, (failure) => told.push(failure));
    const asked = reachThrough(egress, `ws://localhost:${portOf(site)}/`, AbortSignal.timeout(10_000));
    await assert.rejects(asked, (error: Error & { cause?: unknown }) => {
      assert.ok(error instanceof EgressFailure && error.isProxy);
      assert.equal(error.cause, undefined);
      return error.message === 'the egress cannot be reached (ECONNREFUSED)';
    });
    assert.equal(told.length, 1);
  }
});

test('a proxy that takes a connection and answers nothing is ended with the caller', async (context) => {
  const mute = createTcpServer();
  await listening(mute);
  context.after(() => mute.close());
  for (const kind of ['socks5', 'http']) {
    const ending = new AbortController();
    const taken = once(mute, 'connection');
    const egress = through(`${kind}://127.0.0.1:${portOf(mute)}`);
    const asked = reachThrough(egress, `ws://localhost:${portOf(site)}/`, ending.signal);
    const [socket] = await taken;
    ending.abort();
    await assert.rejects(asked, EgressFailure);
    (socket as { destroy(): void }).destroy();
  }
});

test('a proxy has ten seconds to reach the chat network', async (context) => {
  const timeout = context.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
  const [proxy] = proxies;
  assert.ok(proxy);
  const problem = await egressProblem(through(proxy.url), `ws://localhost:${portOf(site)}/`);
  assert.equal(problem, 'the egress brought no answer of the chat network in time');
  assert.deepEqual(
    timeout.mock.calls.map((call) => call.arguments),
    [[10_000]],
  );
});

test('the packages’ output with DEBUG set holds no password', async () => {
  const lines: string[] = [];
  const { write } = process.stderr;
  const debug = requireOfPackages('debug') as { enable(names: string): void; disable(): void };
  debug.enable('*');
  process.stderr.write = ((line: string) => lines.push(line) > 0) as typeof write;
  try {
    for (const { url } of proxies) (await askThrough(url, `http://localhost:${portOf(site)}/`)).destroy();
  } finally {
    process.stderr.write = write;
    debug.disable();
  }
  assert.ok(lines.some((line) => /proxy/i.test(line)));
  for (const { password } of proxies) assert.doesNotMatch(lines.join(''), new RegExp(password));
  const told = Buffer.from(`bakery:${proxies[1]?.password}`).toString('base64');
  assert.ok(!lines.join('').includes(told));
});

test('through a proxy neither private addresses nor names of a local network are asked', () => {
  const strict = new AddressGuard({ allowLoopback: false, deniedRanges: ['203.0.113.7'] });
  const refused = [
    ...['10.0.0.1', '127.0.0.1', '169.254.169.254', '203.0.113.7', '[::1]', '[fd00::1]', '[::ffff:10.0.0.1]'],
    ...['localhost', 'LOCALHOST.', 'shop.localhost', 'redis', 'intranet', 'nas.local', 'db.internal'],
    ...['metadata.google.internal', 'router.home.arpa', 'printer.lan', 'x.localdomain', ''],
  ];
  for (const host of refused) assert.equal(strict.allowsUnresolved(host, 443), false, host);
  for (const host of [
    'example.org',
    'example.org.',
    'files.locally.example',
    '93.184.215.14',
    '[2606:2800::1]',
  ])
    assert.equal(strict.allowsUnresolved(host, 443), true, host);
  assert.equal(strict.allowsUnresolved('example.org', 8080), false);
  // In tests and on the simulator alone.
  assert.equal(guard.allowsUnresolved('localhost', 8080), true);
  assert.equal(guard.allowsUnresolved('redis', 80), false);
});
