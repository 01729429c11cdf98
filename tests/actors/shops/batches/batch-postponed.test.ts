/** Recipients whose limit is reached wait, and the batch goes on with others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { BatchHarness, numberAt } from './batch-harness.ts';

describe('a batch', () => {
  test('passes over who was written to a moment ago, and comes back to them', async () => {
    const run = await BatchHarness.connected();
    const recipients = run.know(3);
    run.shop.send(numberAt(0));
    await run.batch({ recipients });
    await run.pass(HOUR_MS);
    assert.deepEqual(
      run.sent.map(({ to }) => to),
      [0, 1, 2, 0].map(numberAt),
    );
  });

  test('goes past 64 recipients whose cap is reached, to others that have capacity, and past no more', async () => {
    for (const [past, isSent] of [
      [64, true],
      [65, false],
    ] as const) {
      const run = await BatchHarness.connected();
      // 70 % of the 30 declared recipients of a day.
      const declared = run.declare(21 + past);
      const [last] = run.know(1, 1_000);
      assert.ok(last);
      await run.batch({ recipients: [...declared, last] });
      await run.pass(12 * HOUR_MS);
      assert.equal(run.sent.length, isSent ? 22 : 21);
      assert.equal(run.sent.at(-1)?.to === last.to, isSent);
    }
  });
});
