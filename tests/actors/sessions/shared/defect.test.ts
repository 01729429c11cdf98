import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDefect } from '../../../../actors/sessions/worker-thread/shared/defect.ts';

/** Returns the error of a call that throws. */
function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('it did not throw');
}

test('a property of the code is named, and what was parsed or quoted is not', () => {
  const missing = {} as { readonly list?: { readonly rows: unknown } };
  const causes = [
    thrown(() => (missing.list as { readonly rows: unknown }).rows),
    thrown(() => JSON.parse('{"text":"hello')),
    thrown(() => Buffer.from(33_622_222 as unknown as string)),
    new Error('the key \'a\' of "b\nc" is gone'),
  ].map((error) => describeDefect(error).cause);
  assert.deepEqual(causes, [
    "Cannot read properties of undefined (reading 'rows')",
    '',
    'The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received type number (…)',
    'the key "…" is gone',
  ]);
});

test('a stack has frames only, without the message that begins it', () => {
  const { stack = '' } = describeDefect(new Error('one\n    two'));
  assert.ok(stack.split('\n').every((line) => line.startsWith('    at ')));
  assert.ok(stack.includes('defect.test.ts'));
});

test('an error without a stack and a value that is no error are described without one', () => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new RangeError('too much');
  Error.stackTraceLimit = stackTraceLimit;
  assert.deepEqual(describeDefect(error), { error: 'RangeError', cause: 'too much' });
  assert.deepEqual(describeDefect('hello'), { error: 'string', cause: '' });
});
