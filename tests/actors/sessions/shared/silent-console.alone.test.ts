import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { silenceConsole } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';

test('a silenced console does not format its arguments', () => {
  const kept = { ...globalThis.console };
  let looks = 0;
  const session = { [inspect.custom]: () => `looked at ${++looks} times` };
  silenceConsole();
  try {
    for (const method of ['debug', 'info', 'log', 'warn', 'error', 'dir', 'trace'] as const)
      globalThis.console[method](session);
  } finally {
    Object.assign(globalThis.console, kept);
  }
  assert.equal(looks, 0);
});
