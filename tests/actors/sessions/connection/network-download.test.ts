/** Downloads of the network's files from a host that misbehaves. */
import assert from 'node:assert/strict';
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { getMediaKeys, proto } from '@whiskeysockets/baileys';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../../actors/outbound/name-lookup.ts';
import type { DownloadBounds } from '../../../../actors/outbound/network-file.ts';
import { clientDispatcher } from '../../../../actors/sessions/worker-thread/connection/client-dispatcher.ts';
import { HistoryFacts } from '../../../../actors/sessions/worker-thread/connection/history-facts.ts';
import { readHistory } from '../../../../actors/sessions/worker-thread/connection/history-reader.ts';
import { createCertificate } from '../../../../simulator/media/media-certificate.ts';
import { listening } from '../../../testbed/listening.ts';

const never = new AbortController().signal;
/** The answers of the host, and the requests that it got. */
let answer: (response: ServerResponse) => void = (response) => response.end();
const asked: string[] = [];
let server: Server;
let bounds: DownloadBounds;

before(async () => {
  const { ca, cert, key } = createCertificate();
  server = createServer({ cert, key }, (request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  await listening(server);
  bounds = {
    guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
    resolve: nameLookup([]),
    hosts: async () => [`127.0.0.1:${(server.address() as AddressInfo).port}`],
    ca,
  };
});

after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Requests a file like the client, and returns the result. */
async function clientAsks(address: string, change: Partial<DownloadBounds> = {}): Promise<string> {
  const dispatcher = clientDispatcher({ ...bounds, ...change });
  const init = { dispatcher } as RequestInit;
  try {
    return await (await fetch(address, init)).text();
  } catch (error) {
    return String((error as Error).cause);
  }
}

test('the client gets a file from the network’s own host, for any host that it asks', async () => {
  answer = (response) => response.end('a file');
  assert.equal(await clientAsks('https://elsewhere.example/path?oh=1'), 'a file');
  assert.equal(asked.at(-1), '/path?oh=1');
});

test('a host at a private address is not asked', async () => {
  const guard = new AddressGuard({ allowLoopback: false, deniedRanges: [] });
  const countBefore = asked.length;
  assert.match(await clientAsks('https://mmg.whatsapp.net/path', { guard }), /not a public one/);
  assert.equal(asked.length, countBefore);
});

test('a redirect is not followed', async () => {
  const countBefore = asked.length;
  answer = (response) => response.writeHead(302, { location: 'https://127.0.0.1/other' }).end();
  assert.match(await clientAsks('https://mmg.whatsapp.net/path'), /answered 302/);
  assert.equal(asked.length, countBefore + 1);
});

test('an encoded file is refused, since it may grow without a bound', async () => {
  answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a file'));
  assert.match(await clientAsks('https://mmg.whatsapp.net/path'), /is encoded/);
});

test('a file that is too large for the client is refused, announced or not', async () => {
  const content = Buffer.alloc(300 * 1024);
  answer = (response) => response.writeHead(200, { 'content-length': content.length }).end(content);
  assert.match(await clientAsks('https://mmg.whatsapp.net/path'), /too large/);
  answer = (response) => response.writeHead(200).end(content);
  assert.match(await clientAsks('https://mmg.whatsapp.net/path'), /too large/);
});

test('a path that could name another host is refused', async () => {
  const countBefore = asked.length;
  const bytes = Buffer.alloc(32, 1);
  for (const directPath of ['@elsewhere/x', '.elsewhere/x', ':1/x', '//elsewhere/x', '/\\elsewhere/x', '']) {
    const notice = { directPath, mediaKey: bytes, fileEncSha256: bytes };
    await assert.rejects(readHistory(notice, bounds, never), /no valid path/, directPath);
  }
  assert.equal(asked.length, countBefore);
});

/** Returns a file as a phone uploads it, and the facts that its message gives. */
async function uploaded(content: Uint8Array): Promise<{ file: Buffer; notice: object }> {
  const mediaKey = randomBytes(32);
  const { cipherKey, iv } = await getMediaKeys(mediaKey, 'md-msg-hist');
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const file = Buffer.concat([cipher.update(content), cipher.final(), Buffer.alloc(10)]);
  const fileEncSha256 = createHash('sha256').update(file).digest();
  return { file, notice: { mediaKey, fileEncSha256, directPath: '/history' } };
}

const history = proto.HistorySync.encode({
  syncType: proto.HistorySync.HistorySyncType.RECENT,
  conversations: [
    {
      id: '111@lid',
      pnJid: '33611111111@s.whatsapp.net',
      tcToken: Buffer.from('token'),
      tcTokenTimestamp: 1_700_000_000,
      messages: [{ message: { key: { id: 'A' }, message: { conversation: 'x'.repeat(10_000) } } }],
    },
    { id: '33622222222@s.whatsapp.net', lidJid: '222@lid' },
    { id: '123-456@g.us' },
  ],
  phoneNumberToLidMappings: [{ pnJid: '33633333333@s.whatsapp.net', lidJid: '333@lid' }],
}).finish();

test('a history is read in pieces of any size', async () => {
  for (const size of [1, 2, 7, 1_000, history.length]) {
    const facts = new HistoryFacts();
    for (let offset = 0; offset < history.length; offset += size)
      facts.push(history.subarray(offset, offset + size));
    facts.end();
    assert.deepEqual(
      [...facts.mappings],
      [
        ['33611111111', '111'],
        ['33622222222', '222'],
        ['33633333333', '333'],
      ],
      `pieces of ${size}`,
    );
    const token = Buffer.from('token');
    const expected = { chat: '111@lid', token, issuedAt: 1_700_000_000, ownIssuedAt: undefined };
    assert.deepEqual(facts.tokens, [expected]);
  }
});

test('a history cut short anywhere ends in an error or in fewer facts, never in others', () => {
  const wholeFacts = new HistoryFacts();
  wholeFacts.push(history);
  for (let length = 0; length < history.length; length += 1) {
    const facts = new HistoryFacts();
    try {
      facts.push(history.subarray(0, length));
      facts.end();
    } catch (error) {
      assert.match(String(error), /cut short/);
    }
    for (const [number, lid] of facts.mappings) assert.equal(wholeFacts.mappings.get(number), lid);
  }
});

test('a history in a file is read, and refused if the file is another', async () => {
  const { file, notice } = await uploaded(deflateSync(history));
  answer = (response) => response.end(file);
  assert.equal((await readHistory(notice, bounds, never)).mappings.size, 3);
  const changedBytes = Buffer.from(file);
  changedBytes.writeUInt8(changedBytes.readUInt8(changedBytes.length - 1) ^ 1, changedBytes.length - 1);
  answer = (response) => response.end(changedBytes);
  await assert.rejects(readHistory(notice, bounds, never), /another than the phone named/);
});

test('a history of nothing but empty fields is refused', async () => {
  const { file, notice } = await uploaded(deflateSync(Buffer.alloc(64 * 1024 * 1024)));
  answer = (response) => response.end(file);
  await assert.rejects(readHistory(notice, bounds, never), /too many fields/);
});
