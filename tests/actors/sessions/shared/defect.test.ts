import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EgressFailure } from '../../../../actors/outbound/egress-failure.ts';
import { DownloadRefused } from '../../../../actors/outbound/network-file.ts';
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

test('a message is described only if it names nothing but the code', () => {
  const list = {} as { readonly rows?: { readonly first: unknown }; readonly walk: () => void };
  const people = undefined as unknown as Readonly<Record<string, unknown>>;
  const text = 'Dear Ms Miller, your result is positive' as unknown as object;
  const described = (act: () => unknown): string => describeDefect(thrown(act)).cause;
  assert.equal(
    described(() => (list.rows as { readonly first: unknown }).first),
    "Cannot read properties of undefined (reading 'first')",
  );
  assert.equal(
    described(() => list.walk()),
    'list.walk is not a function',
  );
  const mayHaveValues = [
    () => people.Anna,
    () => people.a4915112345678,
    () => JSON.parse('{"text":"hello'),
    () => Buffer.alloc(4).writeUInt32BE(4_915_112_345_678),
    () => 'x' in text,
    () => new Map(['Miller'] as unknown as [string, string][]),
    () => new Request('customers/4?token=abc'),
    () => {
      throw new Error('no session for +41 79 123 45 67');
    },
  ];
  for (const act of mayHaveValues) assert.equal(described(act), '', act.toString());
});

test('the message of a refused download is described, and the code of a refused request', () => {
  const { cause } = describeDefect(new DownloadRefused('the file is too large', 'too_large'));
  assert.equal(cause, 'the file is too large');
  const described = (fields: { readonly data?: number; readonly output: object }): unknown => {
    const { code, cause } = describeDefect(Object.assign(new Error('no group of Miller'), fields));
    return { code, cause };
  };
  assert.deepEqual(described({ data: 404, output: { statusCode: 500 } }), { code: 404, cause: '' });
  assert.deepEqual(described({ output: { statusCode: 428 } }), { code: 428, cause: '' });
});

test('the code of the system is described, and one that may contain a value is not', () => {
  const codeOf = (code: string): unknown => describeDefect(Object.assign(new Error('x'), { code })).code;
  assert.equal(codeOf('ENOSPC'), 'ENOSPC');
  assert.equal(codeOf('ERR_INVALID_ARG_TYPE'), 'ERR_INVALID_ARG_TYPE');
  for (const code of ['Miller', '+491511234', 'E1234567', 'no code']) assert.equal(codeOf(code), undefined);
  const unreachable = describeDefect(new EgressFailure('the proxy refuses', { isProxy: true }));
  assert.deepEqual([unreachable.code, unreachable.cause], ['EGRESS_UNREACHABLE', 'the proxy refuses']);
});

test('a stack has frames only, without the message that begins it', () => {
  const { stack = '' } = describeDefect(new Error('one\n    two'));
  assert.ok(stack.split('\n').every((line) => line.startsWith('    at ')));
  assert.ok(stack.includes('defect.test.'));
});

test('an error without a stack and a value that is no error are described without one', () => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new RangeError('too much');
  Error.stackTraceLimit = stackTraceLimit;
  assert.deepEqual(describeDefect(error), { error: 'RangeError', cause: '' });
  assert.deepEqual(describeDefect('hello'), { error: 'string', cause: '' });
});
