import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logBackgroundFailure } from '../../runtime/background-failures.ts';
import type { DescribedError } from '../../runtime/described-error.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { comparable, LineLog, type LogLine } from '../testbed/line-log.ts';
import { memoryNode } from './memory-node.ts';

test('a failure of the runtime is a line at debug, and any other error is one at error', () => {
  const log = new LineLog();
  const errors = [
    new RuntimeFailure('STORE_UNAVAILABLE', 'away'),
    new SyntaxError('stored text'),
    'a string',
  ];
  for (const error of errors) logBackgroundFailure(log, error, { shopId: 's' }, 'it failed');
  assert.deepEqual(log.lines.map(comparable), [
    { level: 'debug', shopId: 's', error: 'RuntimeFailure', message: 'it failed' },
    { level: 'error', shopId: 's', error: 'SyntaxError', message: 'it failed' },
    { level: 'error', shopId: 's', error: 'string', message: 'it failed' },
  ]);
});

test('a check of the shards that a replica answers is a line at debug, with the reason', async () => {
  const log = new LineLog();
  const { clock, engine, node, outcome } = await memoryNode({ log });
  const readServers = engine.servers.bind(engine);
  engine.servers = async () => (await readServers()).map((server) => ({ ...server, isMaster: false }));
  const isCheck = ({ message }: LogLine) => message === 'a check of the shards failed';
  await clock.until(() => log.lines.some(isCheck));
  const { level, fields } = log.lines.find(isCheck) ?? {};
  const { type, code, message } = (fields as { readonly err: DescribedError }).err;
  assert.deepEqual(
    [level, type, code, message],
    ['debug', 'RuntimeFailure', 'STORE_UNAVAILABLE', 'what a replica says may be old'],
  );
  await outcome(node.stop());
});
