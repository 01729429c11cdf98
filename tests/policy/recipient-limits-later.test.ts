/**
 * Two forms of one number, written to before the network reported that they are one: judged by each message's
 * acceptance.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exceedsRecipientLimits } from '../../policy/evaluate-message.ts';
import type { LedgerEntry } from '../../policy/ledger-entry.ts';
import { recipientKey } from '../../policy/number-forms.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { START_MS } from './sends.ts';

const RECIPIENT = '+5511912345678';

/** A shop that accepted a message to the recipient at each of `minutes`, and one to somebody else in between. */
function ledgerOf(minutes: readonly number[]): SendLedger {
  const ledger = new SendLedger();
  for (const minute of minutes) {
    const entry = { kind: 'known', atMs: START_MS + minute * MINUTE_MS } as const;
    const fingerprint = { high: 0, low: 0 };
    const entryOf = (subject: string): LedgerEntry => ({
      ...entry,
      subject: recipientKey(subject),
      fingerprint,
    });
    ledger.record(entryOf(RECIPIENT));
    ledger.record(entryOf('+33622220001'));
  }
  return ledger;
}

describe('the limits of a recipient, judged later (docs/contract.md, Messages to numbers)', () => {
  const day = DAY_MS / MINUTE_MS;
  for (const [name, minutes, waiting, expected] of [
    ['the first message ever passes', [0], 0, false],
    ['a message ten minutes after another passes', [0, 10], 0, false],
    ['a message nine minutes after another does not pass', [0, 9], 0, true],
    ['the earlier of two waiting messages is judged by those before it', [0, 9], 1, false],
    ['a waiting message between two others is judged by the one before it', [0, 9, 30], 1, true],
    ['a message accepted after a waiting one does not count for it', [0, 30, 39], 1, false],
    ['the fourth message in a day does not pass', [0, 60, 120, 180], 0, true],
    ['the third message in a day passes', [0, 60, 120, 180], 1, false],
    ['the fourth message passes once the first is a day old', [0, 60, 120, day], 0, false],
    [
      'the fourth message does not pass a minute before the first is a day old',
      [0, 60, 120, day - 1],
      0,
      true,
    ],
    ['a message of which the ledger knows nothing passes', [], 0, false],
  ] as const) {
    test(name, () => {
      const latest = START_MS + (minutes.at(-1) ?? 0) * MINUTE_MS;
      const facts = { recipient: RECIPIENT, waiting, lastInboundAtMs: null, nowMs: latest };
      assert.equal(exceedsRecipientLimits(ledgerOf(minutes), facts), expected);
    });
  }

  test('a reply lifts the ten minutes between messages, and allows no fourth message', () => {
    const judged = (minutes: readonly number[], repliedMinute: number) =>
      exceedsRecipientLimits(ledgerOf(minutes), {
        recipient: RECIPIENT,
        waiting: 0,
        lastInboundAtMs: START_MS + repliedMinute * MINUTE_MS,
        nowMs: START_MS + HOUR_MS,
      });
    assert.equal(judged([0, 9], 5), false);
    assert.equal(judged([0, 9], 0), true, 'in the same millisecond as the message: earlier');
    assert.equal(judged([0, 1, 2, 3], 3), true);
  });
});
