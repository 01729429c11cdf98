import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logBackgroundFailure } from '../../runtime/background-failures.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { comparable, LineLog } from '../testbed/line-log.ts';

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
