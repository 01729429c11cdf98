/** Failures of what follows a command do not say that the command was not carried out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterCommand } from '../../runtime/after-command.ts';
import { RuntimeFailure, type RuntimeFailureCode } from '../../runtime/runtime-failure.ts';

/** Each code, and the one that the caller gets. */
const CODES: { readonly [Code in RuntimeFailureCode]: RuntimeFailureCode } = {
  MAILBOX_FULL: 'OUTCOME_UNKNOWN',
  NODE_BUSY: 'OUTCOME_UNKNOWN',
  SHARD_NOT_OWNED: 'OUTCOME_UNKNOWN',
  SUSPENDED: 'OUTCOME_UNKNOWN',
  POISONED: 'POISONED',
  STORE_UNAVAILABLE: 'OUTCOME_UNKNOWN',
  OUTCOME_UNKNOWN: 'OUTCOME_UNKNOWN',
  DEADLINE_EXCEEDED: 'DEADLINE_EXCEEDED',
  STOPPING: 'OUTCOME_UNKNOWN',
};

for (const [code, expected] of Object.entries(CODES)) {
  test(`${code} after a command is ${expected}`, async () => {
    const rest = afterCommand(() => Promise.reject(new RuntimeFailure(code as RuntimeFailureCode, 'why', 1)));
    await assert.rejects(rest, { name: 'RuntimeFailure', code: expected });
  });
}

test('a value and a defect pass', async () => {
  assert.equal(await afterCommand(() => 7), 7);
  const defect = new Error('a defect');
  await assert.rejects(
    afterCommand(() => Promise.reject(defect)),
    defect,
  );
});
