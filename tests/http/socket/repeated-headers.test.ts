/** Headers of which one is expected and two came: none of them is taken for the one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';
import { openRaw, statuses } from './raw-connection.ts';

const TRACES = [
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
];

let owner: TestTenant;
const { service, target } = sharedService({}, async () => {
  owner = await target.tenant({ plan: 'scale' });
});

async function makeShop(name: string, headers: readonly string[]): Promise<string> {
  const connection = await openRaw(service.apiUrl);
  const body = JSON.stringify({ name });
  const head = [
    'POST /api/v1/shops HTTP/1.1',
    'Host: test',
    `Authorization: Bearer ${owner.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  connection.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const received = await connection.until((text) => text.includes('}'));
  connection.destroy();
  return received;
}

test('two idempotency keys are refused, also when they are the same', async () => {
  for (const keys of [
    ['one', 'another'],
    ['same', 'same'],
    ['', 'behind an empty one'],
    ['before an empty one', ''],
  ]) {
    const received = await makeShop(
      'twice',
      keys.map((key) => `Idempotency-Key: ${key}`),
    );
    assert.deepEqual(statuses(received), [422], String(keys));
    assert.match(received, /"field":"idempotency-key","message":"must be given once/);
  }
  assert.equal((await target.api.call('GET', '/shops/twice', { key: owner.key })).status, 404);
});

test('two trace contexts are ignored, as W3C Trace Context requires for unreadable ones', async () => {
  const seen = async (name: string, traces: readonly string[]): Promise<unknown> => {
    const headers = [`X-Request-Id: ${name}`, ...traces.map((trace) => `traceparent: ${trace}`)];
    assert.deepEqual(statuses(await makeShop(name, headers)), [201]);
    const line = service.lines.find(({ fields }) => 'requestId' in fields && fields.requestId === name);
    assert.ok(line, name);
    return (line.fields as { traceparent?: unknown }).traceparent;
  };
  assert.equal(await seen('traced', TRACES.slice(1)), TRACES[1]);
  assert.equal(await seen('doubly traced', TRACES), undefined);
});

test('several lines of Accept are one list', async () => {
  const connection = await openRaw(service.apiUrl);
  const head = ['GET /api/v1/events HTTP/1.1', 'Host: test', `Authorization: Bearer ${owner.key}`];
  const accepts = ['Accept: application/json', 'Accept: text/event-stream'];
  connection.write(`${[...head, ...accepts].join('\r\n')}\r\n\r\n`);
  const received = await connection.until((text) => text.includes('\r\n\r\n'));
  connection.destroy();
  assert.match(received, /Content-Type: text\/event-stream/i);
});
