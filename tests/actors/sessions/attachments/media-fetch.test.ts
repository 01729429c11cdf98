import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { nameLookup, type ResolveAll } from '../../../../actors/outbound/name-lookup.ts';
import {
  fetchMedia,
  type MediaFetchOptions,
  MediaUnavailable,
} from '../../../../actors/sessions/worker-thread/attachments/media-fetch.ts';
import { listening } from '../../../testbed/listening.ts';
import { png } from './media-samples.ts';
import { edgesOf, SPECIAL_PURPOSE } from './special-purpose-addresses.ts';

let server: Server;
let origin: string;
/** Other processes fetch attachments into the folder of the system, and remove their own. */
const directory = mkdtempSync(join(tmpdir(), 'media-fetch-'));
after(() => rmSync(directory, { recursive: true }));
const picture = png(4, 2);
const asked: string[] = [];

const replies: Record<string, RequestListener> = {
  '/picture.png': (_, reply) => reply.writeHead(200, { 'content-type': 'image/png' }).end(picture),
  '/page': (_, reply) => reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>'),
  '/caf%C3%A9%20menu.pdf': (_, reply) =>
    reply.writeHead(200, { 'content-type': 'application/pdf' }).end('PDF'),
  '/squeezed': (_, reply) =>
    reply.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end('GZIP'),
  '/as-stored': (_, reply) =>
    reply.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'aws-chunked' }).end('PNG'),
  '/untyped': (_, reply) => reply.writeHead(200).end('?'),
  '/empty': (_, reply) => reply.writeHead(200, { 'content-type': 'image/png' }).end(),
  '/missing': (_, reply) => reply.writeHead(404).end(),
  '/switching': (_, reply) =>
    void reply.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  '/declared': (_, reply) => {
    reply.writeHead(200, { 'content-type': 'image/png', 'content-length': '1000000' });
    reply.write('x');
  },
  '/endless': (_, reply) => {
    reply.writeHead(200, { 'content-type': 'image/png' });
    const push = (): void => {
      while (!reply.destroyed && reply.write(Buffer.alloc(64 * 1024)));
    };
    reply.on('drain', push);
    push();
  },
  '/slow': (_, reply) => {
    reply.writeHead(200, { 'content-type': 'image/png' });
    reply.write('x');
  },
  '/redirect': (_, reply) => reply.writeHead(302, { location: '/picture.png' }).end(),
  '/loop': (_, reply) => reply.writeHead(302, { location: '/loop' }).end(),
  '/to-metadata': (_, reply) => reply.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/to-private-name': (_, reply) => reply.writeHead(302, { location: 'http://inside.test/' }).end(),
  '/to-file': (_, reply) => reply.writeHead(302, { location: 'file:///etc/passwd' }).end(),
};

before(async () => {
  server = createServer((request, reply) => {
    asked.push(request.url ?? '');
    const answer = replies[request.url ?? ''];
    if (answer === undefined) reply.writeHead(500).end();
    else answer(request, reply);
  });
  origin = `http://127.0.0.1:${await listening(server)}`;
});

after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const loopback = new AddressGuard({ allowLoopback: true, deniedRanges: [] });
const outside = new AddressGuard({ allowLoopback: false, deniedRanges: ['93.184.216.0/24', '2606:4700::2'] });

const fetchIt = (path: string, change: Partial<MediaFetchOptions> = {}): ReturnType<typeof fetchMedia> =>
  fetchMedia({
    tenantId: 'tenant',
    url: path.startsWith('/') ? `${origin}${path}` : path,
    mediaType: 'image',
    timeoutMs: 5_000,
    guard: loopback,
    resolve: nameLookup([]),
    directory,
    ...change,
  });

const refused = (promise: Promise<unknown>, words: RegExp): Promise<void> =>
  assert.rejects(promise, (error) => error instanceof MediaUnavailable && words.test(error.message));

test('an attachment is streamed into its own file, also after a redirect, and the file is removed', async () => {
  for (const path of ['/picture.png', '/redirect']) {
    const media = await fetchIt(path);
    assert.deepEqual(readFileSync(media.path), picture);
    assert.deepEqual([media.contentType, media.fileName], ['image/png', 'picture.png']);
    await media.discard();
    assert.equal(existsSync(media.path), false);
  }
});

test('a document keeps its name and may be of any type', async () => {
  const menu = await fetchIt('/caf%C3%A9%20menu.pdf', { mediaType: 'document' });
  assert.deepEqual([menu.contentType, menu.fileName], ['application/pdf', 'café menu.pdf']);
  await menu.discard();
  const untyped = await fetchIt('/untyped', { mediaType: 'document' });
  assert.equal(untyped.contentType, 'application/octet-stream');
  await untyped.discard();
});

test('an attachment of the wrong kind, missing, empty, too large, too slow or redirected for ever is refused, and leaves no file', {
  timeout: 30_000,
}, async () => {
  await refused(fetchIt('/page'), /no image/);
  await refused(fetchIt('/picture.png', { mediaType: 'video' }), /no video/);
  await refused(fetchIt('/missing'), /answered 404/);
  await refused(fetchIt('/switching'), /answered 101/);
  await refused(fetchIt('/empty'), /empty/);
  await refused(fetchIt('/squeezed'), /encoded/);
  const storedMedia = await fetchIt('/as-stored');
  assert.equal(readFileSync(storedMedia.path, 'utf8'), 'PNG', 'a word that names no encoding says nothing');
  await storedMedia.discard();
  await refused(fetchIt('/declared', { maxBytes: 1_000 }), /too large/);
  await refused(fetchIt('/endless', { maxBytes: 300_000 }), /too large/);
  await refused(fetchIt('/slow', { timeoutMs: 100 }), /too long/);
  await refused(fetchIt('/loop'), /redirected too often/);
  await refused(fetchIt('/to-file'), /neither at http nor https/);
  await refused(fetchIt('ftp://example.com/x'), /neither at http nor https/);
  await refused(fetchIt('http://user:secret@example.com/x'), /credentials/);
  await refused(fetchIt('no address'), /no valid address/);
  assert.deepEqual(readdirSync(directory), []);
});

test('a host that never ends its TLS handshake is refused in time, and its connection is closed', async (context) => {
  const silentServer = createTcpServer().listen(0, '127.0.0.1');
  context.after(() => silentServer.close());
  await once(silentServer, 'listening');
  const closed = once(silentServer, 'connection').then(
    ([socket]: Socket[]) => socket && once(socket.resume(), 'close'),
  );
  const { port } = silentServer.address() as AddressInfo;
  await refused(fetchIt(`https://127.0.0.1:${port}/picture.png`, { timeoutMs: 200 }), /too long/);
  await closed;
});

test('private addresses are refused in every form, before any connection', async () => {
  const count = asked.length;
  const port = new URL(origin).port;
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    'localhost',
  ])
    await refused(fetchIt(`http://${host}:${port}/picture.png`, { guard: outside }), /public address/);
  for (const host of [
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '[fd00::1]',
    '[fe80::1]',
    '0.0.0.0',
  ])
    await refused(fetchIt(`http://${host}/x`), /public address/);
  assert.equal(asked.length, count);
});

test('a redirect to a private address, or to a name that leads there, is refused', async () => {
  await refused(fetchIt('/to-metadata'), /public address/);
  await refused(fetchIt('/to-private-name', { resolve: answers(['10.0.0.7']) }), /public address/);
});

test('a name with one private address among public ones is refused', async () => {
  const resolve = answers(['93.184.216.34', '10.0.0.7']);
  await refused(fetchIt('http://mixed.test/x', { resolve }), /public address/);
  await refused(fetchIt('http://none.test/x', { resolve: answers([]) }), /public address/);
});

test('a name is asked for once and the connection goes to the answer that was checked', async () => {
  let lookups = 0;
  const resolve: ResolveAll = async () => {
    lookups += 1;
    // A second query would get another address.
    return [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.7', family: 4 }];
  };
  const media = await fetchIt(`http://changing.test:${new URL(origin).port}/picture.png`, { resolve });
  await media.discard();
  assert.equal(lookups, 1);
});

test('a redirect to a port other than those of web servers is refused', async () => {
  const resolve = answers(['1.1.1.1']);
  await refused(fetchIt('http://public.test:6379/x', { resolve, guard: outside }), /port 80 or 443/);
  await refused(fetchIt('https://1.1.1.1:22/x', { guard: outside }), /port 80 or 443/);
});

test('every special-purpose range of IANA is refused, from its first address to its last', () => {
  for (const range of SPECIAL_PURPOSE) {
    for (const address of edgesOf(range))
      assert.equal(outside.allows(address, 443), false, `${address} of ${range}`);
  }
});

test('addresses are refused in every form, and those of a cloud too', () => {
  const inside = ['::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', '::7f00:1', '::a9fe:a9fe', '4000::1'];
  for (const address of [...inside, '168.63.129.16', '::ffff:168.63.129.16', 'not an address'])
    assert.equal(outside.allows(address, 80), false, address);
});

test('public addresses are allowed at ports 80 and 443, unless they are in a range of one’s own', () => {
  for (const address of ['1.1.1.1', '168.63.129.15', '2606:4700::1111']) {
    assert.deepEqual(
      [80, 443, 8080, 22].map((port) => outside.allows(address, port)),
      [true, true, false, false],
    );
  }
  assert.deepEqual(
    ['93.184.216.34', '93.184.217.1', '2606:4700::2', '::ffff:93.184.216.34'].map((address) =>
      outside.allows(address, 443),
    ),
    [false, true, false, false],
  );
  assert.deepEqual(
    ['127.0.0.1', '::1', '10.0.0.1'].map((address) => loopback.allows(address, 4_000)),
    [true, true, false],
  );
  assert.throws(() => new AddressGuard({ allowLoopback: false, deniedRanges: ['10.0.0.0/33'] }));
});

function answers(addresses: readonly string[]): ResolveAll {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
