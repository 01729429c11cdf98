/** What reaches the log of a process, and what never does. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { AnsweredRequest } from '../../http/request-log/answered-request.ts';
import { logLineCache } from '../../http/request-log/log-line-cache.ts';
import { createLogger } from '../../http/request-log/process-log.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const kind = { tenantId: 't1', keyId: 'k1', method: 'GET', route: '/shops/{idOrName}', status: 404 };
const answered: AnsweredRequest = {
  ...kind,
  atMs: 1_800_000_000_000,
  requestId: 'r-1',
  words: logLineCache()(kind),
  latencyMs: 1.25,
  ip: '203.0.113.7',
  errorCode: 'SHOP_NOT_FOUND',
};

function openLog(level = 'info') {
  const lines: string[] = [];
  const log = createLogger({ level, stream: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

test('secrets and texts are left out, at the top and one step below', () => {
  const { log, lines } = openLog();
  log.info({ token: 'one-secret', shop: { qr: 'two-secret', name: 'Bakery' }, text: 'three-secret' }, 'told');
  assert.doesNotMatch(lines.join(''), /secret/);
  assert.match(lines.join(''), /Bakery/);
});

test('an error of the Redis client is told without the command that failed: its arguments may be anything', () => {
  const { log, lines } = openLog();
  const error = Object.assign(new Error('WRONGTYPE Operation against a key'), {
    command: { name: 'eval', args: ['a secret text'] },
  });
  log.warn({ err: error }, 'it failed');
  assert.doesNotMatch(lines.join(''), /secret/);
  assert.match(lines.join(''), /WRONGTYPE/);
});

test('an answered request is a line of its own, whole JSON, at level info alone', () => {
  const { log, lines } = openLog();
  log.request(answered, 'request');
  const { pid, hostname, ...told } = JSON.parse(lines.join('')) as Record<string, unknown>;
  assert.deepEqual([typeof pid, typeof hostname], ['number', 'string']);
  assert.deepEqual(told, {
    level: 30,
    time: 1_800_000_000_000,
    requestId: 'r-1',
    ...kind,
    latencyMs: 1.25,
    ip: '203.0.113.7',
    msg: 'request',
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const traced = openLog();
  traced.log.request({ ...answered, traceparent }, 'request');
  assert.equal(JSON.parse(traced.lines.join('')).traceparent, traceparent);
  const quiet = openLog('warn');
  quiet.log.request(answered, 'request');
  assert.deepEqual(quiet.lines, []);
});

/** A log on standard error, whose writes end when the test says so. */
function errorLog(t: TestContext) {
  const clock = new FakeClock();
  const log = createLogger({ level: 'info', clock });
  const writes: { readonly text: string; end(): void }[] = [];
  t.mock.method(fs, 'write', (...args: unknown[]) => {
    const [, bytes, ended] = args as [number, Buffer, (error: null, count: number) => void];
    writes.push({ text: bytes.toString(), end: () => ended(null, bytes.length) });
  });
  return { log, clock, writes };
}

test('standard error is given a line within 200 ms, and nothing once there is none', async (t) => {
  const { log, clock, writes } = errorLog(t);
  log.info({}, 'one');
  assert.equal(writes.length, 0);
  await clock.advance(200);
  assert.match(writes.at(-1)?.text ?? '', /one/);
  for (let round = 0; round < 10; round += 1) {
    writes.at(-1)?.end();
    await clock.advance(200);
  }
  const sofar = writes.length;
  await clock.advance(60_000);
  assert.deepEqual(
    [
      writes.length,
      writes
        .slice(1)
        .map(({ text }) => text)
        .join(''),
    ],
    [sofar, ''],
  );
});

test('a line that comes while another is written is written after it', async (t) => {
  const { log, clock, writes } = errorLog(t);
  log.info({}, 'one');
  await clock.advance(200);
  log.info({}, 'two');
  await clock.advance(1_000);
  assert.equal(writes.length, 1);
  writes[0]?.end();
  await clock.advance(200);
  assert.match(writes[1]?.text ?? '', /two/);
});

test('a small line behind so many that they are written at once is written too', async (t) => {
  const { log, clock, writes } = errorLog(t);
  log.info({ much: 'x'.repeat(70_000) }, 'one');
  log.info({}, 'two');
  await clock.advance(1_000);
  assert.equal(writes.length, 1);
  writes[0]?.end();
  await clock.advance(200);
  assert.match(writes[1]?.text ?? '', /two/);
});

for (const [how, end] of [
  ['crashed', 'throw new Error()'],
  ['ended', ''],
] as const) {
  test(`what was answered just before the process ${how} is written all the same`, () => {
    const program = `
      import { createLogger } from '${new URL('../../http/request-log/process-log.ts', import.meta.url)}';
      createLogger({ level: 'info' }).request(${JSON.stringify(answered)}, 'request');
      setImmediate(() => setImmediate(() => { ${end} }));`;
    const { stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      {
        encoding: 'utf8',
      },
    );
    assert.match(stderr, /"requestId":"r-1"/);
  });
}
