import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureFields, logBackgroundFailure } from '../../runtime/background-failures.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { LineLog } from './line-log.ts';

test('a failure of the runtime is a line at debug, with the failure', () => {
  const log = new LineLog();
  const failure = new RuntimeFailure('STORE_UNAVAILABLE', 'away');
  logBackgroundFailure(log, failure, { shopId: 's' }, 'it failed');
  assert.deepEqual(log.lines, [
    { level: 'debug', fields: { shopId: 's', err: failure }, message: 'it failed' },
  ]);
});

test('a defect is a line at error, with its name and frames, and without its message', () => {
  const log = new LineLog();
  logBackgroundFailure(log, new SyntaxError('stored text\n    at all'), { shopId: 's' }, 'it failed');
  const [line = { fields: {} }] = log.lines;
  const { stack, ...fields } = line.fields as { readonly stack: string };
  assert.deepEqual(
    { ...line, fields },
    { level: 'error', fields: { shopId: 's', error: 'SyntaxError' }, message: 'it failed' },
  );
  assert.match(stack, /^ {4}at .*background-failures\.test/);
  assert.doesNotMatch(stack, /stored text|at all/);
});

test('a thrown value that is no error is a line at error, with its type', () => {
  const log = new LineLog();
  logBackgroundFailure(log, 'stored text', {}, 'it failed');
  assert.deepEqual(log.lines, [{ level: 'error', fields: { error: 'string' }, message: 'it failed' }]);
});

test('the fields of a line keep a failure of the runtime, and of a defect no message', () => {
  const failure = new RuntimeFailure('STORE_UNAVAILABLE', 'away');
  assert.deepEqual(failureFields(failure), { err: failure });
  const { stack: _, ...fields } = failureFields(new SyntaxError('stored text')) as { readonly stack: string };
  assert.deepEqual(fields, { error: 'SyntaxError' });
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' });
  const { stack: __, ...codeFields } = failureFields(refused) as { readonly stack: string };
  assert.deepEqual(codeFields, { error: 'Error', code: 'ECONNREFUSED' });
});
