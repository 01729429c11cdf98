import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { isPublicAddress, type ResolveAll } from '../../actors/session/worker-thread/address-guard.ts';
import {
  fetchMedia,
  type MediaFetchOptions,
  MediaUnavailable,
} from '../../actors/session/worker-thread/media-fetch.ts';

let server: Server;
let origin: string;
const asked: string[] = [];

const replies: Record<string, RequestListener> = {
  '/picture.png': (_, reply) => reply.writeHead(200, { 'content-type': 'image/png' }).end('PNG'),
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
  '/hop': (_, reply) => reply.writeHead(302, { location: '/picture.png' }).end(),
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const fetchIt = (path: string, change: Partial<MediaFetchOptions> = {}): ReturnType<typeof fetchMedia> =>
  fetchMedia({
    url: path.startsWith('/') ? `${origin}${path}` : path,
    mediaType: 'image',
    timeoutMs: 5_000,
    allowLoopback: true,
    ...change,
  });

const refused = (promise: Promise<unknown>, words: RegExp): Promise<void> =>
  assert.rejects(promise, (error) => error instanceof MediaUnavailable && words.test(error.message));

test('an attachment is streamed into a file of its own, also behind a redirect, and the file is removed', async () => {
  for (const path of ['/picture.png', '/hop']) {
    const media = await fetchIt(path);
    assert.equal(readFileSync(media.path, 'utf8'), 'PNG');
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

test('what is not of its kind, missing, empty, too large, too slow or redirected for ever is refused, and leaves no file', async () => {
  const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('attachment-'));
  const before = left();
  await refused(fetchIt('/page'), /no image/);
  await refused(fetchIt('/picture.png', { mediaType: 'video' }), /no video/);
  await refused(fetchIt('/missing'), /answered 404/);
  await refused(fetchIt('/empty'), /empty/);
  await refused(fetchIt('/squeezed'), /encoded/);
  const stored = await fetchIt('/as-stored');
  assert.equal(readFileSync(stored.path, 'utf8'), 'PNG', 'a word that names no encoding says nothing');
  await stored.discard();
  await refused(fetchIt('/declared', { maxBytes: 1_000 }), /too large/);
  await refused(fetchIt('/endless', { maxBytes: 300_000 }), /too large/);
  await refused(fetchIt('/slow', { timeoutMs: 100 }), /too long/);
  await refused(fetchIt('/loop'), /redirected too often/);
  await refused(fetchIt('/to-file'), /neither at http nor https/);
  await refused(fetchIt('ftp://example.com/x'), /neither at http nor https/);
  await refused(fetchIt('http://user:secret@example.com/x'), /credentials/);
  await refused(fetchIt('no address'), /no valid address/);
  assert.deepEqual(left(), before);
});

test('private addresses are refused in every dress, before anybody is asked', async () => {
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
  ]) {
    await refused(fetchIt(`http://${host}:${port}/picture.png`, { allowLoopback: false }), /public address/);
  }
  for (const host of [
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '[fd00::1]',
    '[fe80::1]',
    '0.0.0.0',
  ]) {
    await refused(fetchIt(`http://${host}/x`), /public address/);
  }
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
  const resolve: ResolveAll = (_, done) => {
    lookups += 1;
    // The second answer would lead elsewhere.
    done(null, [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.7', family: 4 }]);
  };
  const media = await fetchIt(`http://changing.test:${new URL(origin).port}/picture.png`, { resolve });
  await media.discard();
  assert.equal(lookups, 1);
});

test('every range that is not public is known', () => {
  const inside = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    '::7f00:1',
    '::a9fe:a9fe',
    '4000::1',
    'not an address',
  ];
  for (const address of inside) assert.equal(isPublicAddress(address, false), false, address);
  for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700::1111']) {
    assert.equal(isPublicAddress(address, false), true, address);
  }
  assert.deepEqual(
    ['127.0.0.1', '::1', '10.0.0.1'].map((address) => isPublicAddress(address, true)),
    [true, true, false],
  );
});

function answers(addresses: readonly string[]): ResolveAll {
  return (_, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}
