/** Names without an answering server delay only their own callers. */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { nameLookup } from '../../../actors/outbound/name-lookup.ts';

let server: Socket;
let asked = 0;
let nameServers: string[];

before(async () => {
  server = createSocket('udp4', (query, from) => {
    asked += 1;
    // Answered are questions for the A of a name that begins with an 8-letter label; the rest is heard and no more.
    if (query[12] !== 8 || query.readUInt16BE(query.indexOf(0, 12) + 1) !== 1) return;
    server.send(answerTo(query), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  nameServers = [`127.0.0.1:${server.address().port}`];
});
after(() => server.close());

/** The question once more, with one A record: 192.0.2.7. */
function answerTo(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  return Buffer.concat([header, question, Buffer.from('c00c00010001000000000004c0000207', 'hex')]);
}

test('a name server that is mute is given up after 2 seconds, however many names are asked for', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `mute-${index}.test`);
  const found = names.map((name) => nameLookup(nameServers)(name, new AbortController().signal));
  let isSettled = false;
  const settled = Promise.allSettled(found).finally(() => {
    isSettled = true;
  });
  // The thread pool's four threads are free: one such name each would hold them.
  await lookup('127.0.0.1');
  await lookup('localhost');
  assert.ok(!isSettled, 'another look-up waited for those');
  const startedMs = performance.now();
  const outcomes = await settled;
  const tookMs = performance.now() - startedMs;
  assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']));
  assert.ok(asked >= names.length, `asked ${asked} times`);
  assert.ok(tookMs < 10_000, `gave up after ${tookMs} ms`);
});

test('a caller that no longer wants an answer waits for none', async () => {
  const abort = new AbortController();
  const found = nameLookup(nameServers)('mute.test', abort.signal);
  abort.abort(new Error('given up'));
  await assert.rejects(found, /given up/);
  await assert.rejects(nameLookup(nameServers)('mute.test', abort.signal), /given up/);
});

test('an address of one family counts if the other never comes, and loopback needs no server', async () => {
  const resolve = nameLookup(nameServers);
  const { signal } = new AbortController();
  assert.deepEqual(await resolve('answered.test', signal), [{ address: '192.0.2.7', family: 4 }]);
  const before = asked;
  assert.deepEqual(
    (await resolve('media.localhost', signal)).map(({ address }) => address),
    ['127.0.0.1', '::1'],
  );
  assert.equal(asked, before);
});
