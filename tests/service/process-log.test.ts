/** The content of a process' log, and data that must never be in it. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { AnsweredRequest } from '../../http/contract/answered-request.ts';
import { makeLogger } from '../../service/process-log.ts';
import { moduleFile, nodeFlags } from '../testbed/root.ts';

const answeredRequest: AnsweredRequest = {
  tenantId: 't1',
  keyId: 'k1',
  method: 'GET',
  route: '/shops/{idOrName}',
  status: 404,
  atMs: 1_800_000_000_000,
  requestId: 'r-1',
  latencyMs: 1.25,
  ip: '203.0.113.7',
  errorCode: 'SHOP_NOT_FOUND',
};

function openLog(level = 'info') {
  const lines: string[] = [];
  const log = makeLogger({ level, stream: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

test('secrets and texts are left out, at the top and one step below', () => {
  const { log, lines } = openLog();
  log.info({ token: 'one-secret', shop: { qr: 'two-secret', name: 'Bakery' }, text: 'three-secret' }, 'told');
  assert.doesNotMatch(lines.join(''), /secret/);
  assert.match(lines.join(''), /Bakery/);
});

test('errors of the Redis client are logged without their commands, also within another error', () => {
  const { log, lines } = openLog();
  const error = Object.assign(new Error('WRONGTYPE Operation against a key'), {
    name: 'ReplyError',
    command: { name: 'eval', args: ['a secret text'] },
  });
  log.warn({ err: error }, 'it failed');
  log.error({ err: new AggregateError([error], 'some parts failed') }, 'it failed');
  assert.doesNotMatch(lines.join(''), /secret/);
  assert.equal(lines.join('').match(/WRONGTYPE/g)?.length, 2);
});

test('an answered request is a line only at level debug', () => {
  const { log, lines } = openLog('debug');
  log.debug(answeredRequest, 'request');
  const { pid, hostname, time, ...told } = JSON.parse(lines.join('')) as Record<string, unknown>;
  assert.deepEqual([typeof pid, typeof hostname, typeof time], ['number', 'string', 'number']);
  assert.deepEqual(told, { level: 20, ...answeredRequest, msg: 'request' });
  const quiet = openLog('info');
  quiet.log.debug(answeredRequest, 'request');
  assert.deepEqual(quiet.lines, []);
});

for (const [how, end] of [
  ['crashed', 'throw new Error()'],
  ['ended', ''],
] as const) {
  test(`a line logged just before the process ${how} is written`, () => {
    const program = `
      import { makeLogger } from '${moduleFile('service/process-log.ts')}';
      makeLogger({ level: 'info' }).info(${JSON.stringify(answeredRequest)}, 'request');
      setImmediate(() => setImmediate(() => { ${end} }));`;
    const { stderr } = spawnSync(process.execPath, [...nodeFlags, '--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    assert.match(stderr, /"requestId":"r-1"/);
  });
}
