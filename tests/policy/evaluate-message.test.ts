import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { messageFacts, refusalOf, START_MS, sendMany } from './sends.ts';

describe('content (docs/contract.md, Input bounds)', () => {
  const wide = '\u{1f600}';
  const tooLong = ['MESSAGE_TOO_LONG', undefined];
  const empty = ['EMPTY_MESSAGE', undefined];
  for (const [name, content, expected] of [
    ['4096 characters pass', { text: 'x'.repeat(4096) }, 'admitted'],
    ['4097 characters are too many', { text: 'x'.repeat(4097) }, tooLong],
    ['a character is a code point: 4096 of two units pass', { text: wide.repeat(4096) }, 'admitted'],
    ['4095 characters of two units after another one pass', { text: `x${wide.repeat(4095)}` }, 'admitted'],
    ['4097 characters of two units are too many', { text: wide.repeat(4097) }, tooLong],
    ['4097 mixed characters are too many', { text: `${wide.repeat(2000)}${'x'.repeat(2097)}` }, tooLong],
    ['the first half of a pair alone is a character', { text: '\ud83d'.repeat(4097) }, tooLong],
    ['the second half of a pair alone is a character', { text: '\ude00'.repeat(4097) }, tooLong],
    ['one attachment passes', { text: undefined, mediaUrl: 'https://a.example/1' }, 'admitted'],
    ['a message without text and attachment is empty', { text: undefined }, empty],
    ['a message with a blank text is empty', { text: ' \n\t' }, empty],
  ] as const) {
    test(name, () => {
      assert.deepEqual(refusalOf(evaluateMessage(new SendLedger(), messageFacts(content))), expected);
    });
  }
});

describe('the verdict (docs/contract.md, Policy verdict object)', () => {
  for (const [day, perDay, perHour, coldPerDay] of [
    [0, 20, 10, 5],
    [2, 20, 10, 5],
    [3, 50, 10, 5],
    [6, 50, 10, 5],
    [7, 100, 16, 10],
    [13, 100, 16, 10],
    [14, 250, 41, 25],
    [400, 250, 41, 25],
  ] as const) {
    test(`warm-up day ${day} has its caps from its first to its last millisecond`, () => {
      for (const offsetMs of [0, DAY_MS - 1]) {
        const facts = messageFacts({ pairedAtMs: START_MS - day * DAY_MS - offsetMs });
        const evaluation = evaluateMessage(new SendLedger(), facts);
        assert.ok(evaluation.isAdmitted);
        assert.equal(evaluation.verdict.warmupDay, day);
        assert.deepEqual(evaluation.verdict.caps, { perDay, perHour, coldPerDay, declaredPerDay: 30 });
      }
    });
  }

  test('a shop that was never paired, or will be, is on day 0', () => {
    for (const pairedAtMs of [null, START_MS + HOUR_MS]) {
      const evaluation = evaluateMessage(new SendLedger(), messageFacts({ pairedAtMs }));
      assert.ok(evaluation.isAdmitted);
      assert.equal(evaluation.verdict.warmupDay, 0);
      assert.equal(evaluation.verdict.caps.perDay, 20);
    }
  });

  test('known beats declared beats cold, and each counts only for itself', () => {
    const declaration = { expiresAtMs: null, isRevoked: false };
    const ledger = new SendLedger();
    const usages = [
      { isCustomer: true, declaration },
      { isCustomer: false, lastInboundAtMs: START_MS - 400 * DAY_MS, declaration },
      { isCustomer: false, declaration },
      { isCustomer: false, declaration: { expiresAtMs: START_MS + 1, isRevoked: false } },
      { isCustomer: false, declaration: { expiresAtMs: START_MS, isRevoked: false } },
      { isCustomer: false, declaration: { expiresAtMs: null, isRevoked: true } },
      { isCustomer: false },
    ].map((facts, index) => {
      const recipient = `+49170123450${index}`;
      const evaluation = evaluateMessage(ledger, messageFacts({ recipient, text: `${index}`, ...facts }));
      assert.ok(evaluation.isAdmitted);
      ledger.record(evaluation.entry);
      const { usage, recipientClass } = evaluation.verdict;
      return [recipientClass, usage.today, usage.lastHour, usage.coldToday, usage.declaredToday];
    });
    assert.deepEqual(usages, [
      ['known', 1, 1, 0, 0],
      ['known', 2, 2, 0, 0],
      ['declared', 3, 3, 0, 1],
      ['declared', 4, 4, 0, 2],
      ['cold', 5, 5, 1, 2],
      ['cold', 6, 6, 2, 2],
      ['cold', 7, 7, 3, 2],
    ]);
  });

  test('evaluating a message changes nothing', () => {
    const ledger = new SendLedger();
    const first = evaluateMessage(ledger, messageFacts());
    assert.deepEqual(evaluateMessage(ledger, messageFacts()), first);
    assert.equal(ledger.size, 0);
  });
});

test('a recipient who opted out is refused for as long as they stay silent, even if declared', () => {
  const facts = messageFacts({ hasOptedOut: true, declaration: { expiresAtMs: null, isRevoked: false } });
  assert.deepEqual(refusalOf(evaluateMessage(new SendLedger(), facts)), ['RECIPIENT_OPTED_OUT', undefined]);
});

describe('caps (docs/contract.md, Messages to numbers)', () => {
  const day0 = { pairedAtMs: START_MS };

  test('the daily cap is exact to the millisecond over any 24 hours', () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 20, paceMs: HOUR_MS, facts: { pairedAtMs: null } });
    const ask = (nowMs: number) =>
      refusalOf(evaluateMessage(ledger, messageFacts({ pairedAtMs: null, nowMs })));
    assert.deepEqual(ask(START_MS + 19 * HOUR_MS), ['DAILY_CAP_REACHED', 5 * 3600]);
    assert.deepEqual(ask(START_MS + DAY_MS - 1), ['DAILY_CAP_REACHED', 1]);
    assert.deepEqual(ask(START_MS + DAY_MS - 1001), ['DAILY_CAP_REACHED', 2]);
    assert.equal(ask(START_MS + DAY_MS), 'admitted');
  });

  test('a warm-up step before the window has capacity ends the refusal', () => {
    const ledger = new SendLedger();
    const pairedAtMs = START_MS - 3 * DAY_MS + 20 * HOUR_MS;
    sendMany(ledger, { count: 20, paceMs: HOUR_MS / 2, facts: { pairedAtMs } });
    const nowMs = START_MS + 15 * HOUR_MS;
    const refusal = refusalOf(evaluateMessage(ledger, messageFacts({ pairedAtMs, nowMs })));
    assert.deepEqual(refusal, ['DAILY_CAP_REACHED', 5 * 3600]);
  });

  test('a new pairing lowers the cap: refused until enough of the sends are a day old', () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 41, paceMs: MINUTE_MS });
    const nowMs = START_MS + 2 * HOUR_MS;
    const facts = messageFacts({ pairedAtMs: null, nowMs });
    const twentySecond = START_MS + 21 * MINUTE_MS + DAY_MS;
    const seconds = (twentySecond - nowMs) / 1_000;
    assert.deepEqual(refusalOf(evaluateMessage(ledger, facts)), ['DAILY_CAP_REACHED', seconds]);
  });

  test('a warm-up step accepts a message that exactly fits its cap', () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 41, paceMs: 0 });
    sendMany(ledger, { count: 8, paceMs: 0, facts: { nowMs: START_MS + HOUR_MS } });
    const nowMs = START_MS + 2 * HOUR_MS;
    const pairedAtMs = nowMs - 3 * DAY_MS + HOUR_MS;
    const refusal = refusalOf(evaluateMessage(ledger, messageFacts({ pairedAtMs, nowMs })));
    assert.deepEqual(refusal, ['DAILY_CAP_REACHED', 3600]);
  });

  test('the hourly cap follows the daily cap', () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 10, paceMs: MINUTE_MS, facts: day0 });
    const ask = (nowMs: number, pairedAtMs = START_MS) =>
      refusalOf(evaluateMessage(ledger, messageFacts({ pairedAtMs, nowMs })));
    assert.deepEqual(ask(START_MS + 10 * MINUTE_MS), ['HOURLY_CAP_REACHED', 50 * 60]);
    assert.equal(ask(START_MS + HOUR_MS), 'admitted');
    const halfAnHourFromDay7 = START_MS + 30 * MINUTE_MS - 7 * DAY_MS;
    assert.deepEqual(ask(START_MS + 10 * MINUTE_MS, halfAnHourFromDay7), ['HOURLY_CAP_REACHED', 20 * 60]);
  });

  test('cold recipients have a tenth of the daily cap, or the tuned cap, at once', () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 5, paceMs: MINUTE_MS, facts: { ...day0, isCustomer: false } });
    const nowMs = START_MS + 5 * MINUTE_MS;
    const ask = (facts: Parameters<typeof messageFacts>[0]) =>
      refusalOf(evaluateMessage(ledger, messageFacts({ ...day0, isCustomer: false, nowMs, ...facts })));
    assert.deepEqual(ask({}), ['COLD_RECIPIENT_CAP_REACHED', 86_400 - 300]);
    assert.equal(ask({ settings: resolveSettings({ coldPerDay: 6 }) }), 'admitted');
    const tightened = resolveSettings({ coldPerDay: 1 });
    assert.deepEqual(ask({ settings: tightened }), ['COLD_RECIPIENT_CAP_REACHED', 86_400 - 60]);
    assert.equal(ask({ isCustomer: true }), 'admitted');
    assert.equal(ask({ declaration: { expiresAtMs: null, isRevoked: false } }), 'admitted');
  });

  test('declared recipients have their own budget, and never use the cold one', () => {
    const ledger = new SendLedger();
    const settings = resolveSettings({ declaredPerDay: 2 });
    const declared = { isCustomer: false, declaration: { expiresAtMs: null, isRevoked: false }, settings };
    sendMany(ledger, { count: 2, paceMs: MINUTE_MS, facts: declared });
    const nowMs = START_MS + 2 * MINUTE_MS;
    const ask = (facts: Parameters<typeof messageFacts>[0]) =>
      refusalOf(evaluateMessage(ledger, messageFacts({ ...declared, nowMs, ...facts })));
    assert.deepEqual(ask({}), ['DECLARED_RECIPIENT_CAP_REACHED', 86_400 - 120]);
    assert.equal(ask({ declaration: null }), 'admitted');
    const expiring = { expiresAtMs: nowMs + 1500, isRevoked: false };
    assert.deepEqual(ask({ declaration: expiring }), ['DECLARED_RECIPIENT_CAP_REACHED', 2]);
    const none = resolveSettings({ declaredPerDay: 0 });
    assert.deepEqual(ask({ settings: none }), ['DECLARED_RECIPIENT_CAP_REACHED', undefined]);
    assert.deepEqual(ask({ settings: none, declaration: expiring }), ['DECLARED_RECIPIENT_CAP_REACHED', 2]);
  });
});

describe('per recipient (docs/contract.md, Messages to numbers)', () => {
  const sendTo = (ledger: SendLedger, nowMs: number, lastInboundAtMs: number | null = null) => {
    const evaluation = evaluateMessage(ledger, messageFacts({ nowMs, lastInboundAtMs, text: `${nowMs}` }));
    if (evaluation.isAdmitted) ledger.record(evaluation.entry);
    return refusalOf(evaluation);
  };

  test('two messages to one recipient are ten minutes apart, to the millisecond', () => {
    const ledger = new SendLedger();
    assert.equal(sendTo(ledger, START_MS), 'admitted');
    assert.deepEqual(sendTo(ledger, START_MS), ['RECIPIENT_RATE_LIMITED', 600]);
    assert.deepEqual(sendTo(ledger, START_MS + 10 * MINUTE_MS - 1), ['RECIPIENT_RATE_LIMITED', 1]);
    assert.equal(sendTo(ledger, START_MS + 10 * MINUTE_MS), 'admitted');
  });

  test('a refusal names which of the two limits of a recipient it was', () => {
    const ledger = new SendLedger();
    sendTo(ledger, START_MS);
    const told = (nowMs: number) => {
      const evaluation = evaluateMessage(ledger, messageFacts({ nowMs }));
      return evaluation.isAdmitted ? '' : evaluation.message;
    };
    assert.match(told(START_MS + 1), /10 minutes/);
    sendTo(ledger, START_MS + HOUR_MS);
    sendTo(ledger, START_MS + 2 * HOUR_MS);
    assert.match(told(START_MS + 2 * HOUR_MS + 1), /3 messages/);
  });

  test('only a reply since the last message lifts the ten minutes between messages', () => {
    const ledger = new SendLedger();
    assert.equal(sendTo(ledger, START_MS, START_MS - 1), 'admitted');
    assert.deepEqual(sendTo(ledger, START_MS + 5, START_MS), ['RECIPIENT_RATE_LIMITED', 600]);
    assert.equal(sendTo(ledger, START_MS + 5, START_MS + 1), 'admitted');
  });

  test('one recipient gets at most three messages in 24 hours, with or without replies', () => {
    const ledger = new SendLedger();
    for (const nowMs of [START_MS, START_MS + HOUR_MS, START_MS + 2 * HOUR_MS])
      assert.equal(sendTo(ledger, nowMs, nowMs - 1), 'admitted');
    const nowMs = START_MS + 3 * HOUR_MS;
    assert.deepEqual(sendTo(ledger, nowMs, nowMs), ['RECIPIENT_RATE_LIMITED', 21 * 3600]);
    assert.deepEqual(sendTo(ledger, START_MS + DAY_MS - 1, nowMs), ['RECIPIENT_RATE_LIMITED', 1]);
    assert.equal(sendTo(ledger, START_MS + DAY_MS), 'admitted');
  });

  test('numbers that differ only above 32 bits are different people', () => {
    const ledger = new SendLedger();
    assert.ok(ledger.size === 0);
    for (const number of [491_701_234_567, 491_701_234_567 + 2 ** 32, 491_701_234_568]) {
      const evaluation = evaluateMessage(ledger, messageFacts({ recipient: `+${number}` }));
      assert.ok(evaluation.isAdmitted);
      ledger.record(evaluation.entry);
    }
  });
});

describe('bulk pattern (docs/contract.md, Messages to numbers)', () => {
  const filled = () => {
    const ledger = new SendLedger();
    sendMany(ledger, { count: 20, paceMs: MINUTE_MS, facts: { text: 'Sale' } });
    return ledger;
  };
  const nowMs = START_MS + 20 * MINUTE_MS;
  const ask = (facts: Parameters<typeof messageFacts>[0]) =>
    refusalOf(evaluateMessage(filled(), messageFacts({ nowMs, ...facts })));

  test('identical text reaches 20 numbers in an hour, not 21', () => {
    assert.deepEqual(ask({ text: 'sale' }), ['BULK_PATTERN_BLOCKED', 40 * 60]);
    assert.deepEqual(ask({ text: 'sale', nowMs: START_MS + HOUR_MS - 1 }), ['BULK_PATTERN_BLOCKED', 1]);
    assert.equal(ask({ text: 'sale', nowMs: START_MS + HOUR_MS }), 'admitted');
    assert.equal(ask({ text: 'Sale!' }), 'admitted');
  });

  test('an attachment without text is identified by its address', () => {
    const ledger = new SendLedger();
    const media = (name: string) => ({ text: undefined, mediaUrl: `https://a.example/${name}` });
    for (let index = 0; index < 20; index += 1) {
      const facts = messageFacts({
        ...media('sale'),
        recipient: `+3360000${1_000 + index}`,
        nowMs: START_MS + index,
      });
      const evaluation = evaluateMessage(ledger, facts);
      assert.ok(evaluation.isAdmitted);
      ledger.record(evaluation.entry);
    }
    const next = (name: string) =>
      refusalOf(evaluateMessage(ledger, messageFacts({ ...media(name), nowMs })));
    assert.equal(next('sale')[0], 'BULK_PATTERN_BLOCKED');
    assert.equal(next('other'), 'admitted');
  });

  test('one of the 20 recipients may get the text again', () => {
    assert.equal(ask({ text: 'Sale', recipient: '+33600001000' }), 'admitted');
  });

  for (const [name, recipient, seconds] of [
    ['the first to have it', '+33600001000', 41 * 60],
    ['one in between', '+33600001010', 40 * 60],
  ] as const) {
    test(`${name} and then again counts once, by the later time`, () => {
      const ledger = filled();
      const evaluation = evaluateMessage(ledger, messageFacts({ nowMs, text: 'Sale', recipient }));
      assert.ok(evaluation.isAdmitted);
      ledger.record(evaluation.entry);
      const refusal = refusalOf(evaluateMessage(ledger, messageFacts({ nowMs, text: 'Sale' })));
      assert.deepEqual(refusal, ['BULK_PATTERN_BLOCKED', seconds]);
    });
  }
});

test('the first rule in the contract’s order is the answer when several refuse', () => {
  const ledger = new SendLedger();
  const settings = resolveSettings({ coldPerDay: 50, declaredPerDay: 0 });
  sendMany(ledger, { count: 20, paceMs: 0, facts: { text: 'Sale', isCustomer: false, settings } });
  const recipient = '+33600001000';
  const tight = resolveSettings({ coldPerDay: 1 });
  const allFacts = messageFacts({
    isCustomer: false,
    hasOptedOut: true,
    text: undefined,
    pairedAtMs: null,
    settings: tight,
  });
  const codeOf = (facts: Parameters<typeof messageFacts>[0]) => {
    const evaluation = evaluateMessage(ledger, { ...allFacts, ...facts });
    return evaluation.isAdmitted ? 'admitted' : evaluation.code;
  };
  const text = 'Sale';
  const fine = { text, hasOptedOut: false };
  assert.equal(codeOf({}), 'EMPTY_MESSAGE');
  assert.equal(codeOf({ text }), 'RECIPIENT_OPTED_OUT');
  assert.equal(codeOf(fine), 'BULK_PATTERN_BLOCKED');
  assert.equal(codeOf({ ...fine, recipient }), 'RECIPIENT_RATE_LIMITED');
  assert.equal(codeOf({ ...fine, text: 'Other' }), 'DAILY_CAP_REACHED');
  const day5 = { ...fine, text: 'Other', pairedAtMs: START_MS - 5 * DAY_MS };
  assert.equal(codeOf(day5), 'HOURLY_CAP_REACHED');
  const day20 = { ...day5, pairedAtMs: START_MS - 20 * DAY_MS };
  assert.equal(codeOf(day20), 'COLD_RECIPIENT_CAP_REACHED');
  assert.equal(codeOf({ ...day20, declaration: { expiresAtMs: null, isRevoked: false } }), 'admitted');
});

test('a recipient that is no phone number is a mistake of the caller, not a refusal', () => {
  for (const recipient of ['', '491701234567', '+01701234567', '+123456', '+1234567890123456', '+49 170'])
    assert.throws(() => evaluateMessage(new SendLedger(), messageFacts({ recipient })), TypeError);
});

test('a clock that steps back never admits an additional message, and the entry has the later time', () => {
  const ledger = new SendLedger();
  sendMany(ledger, { count: 10, paceMs: 0, facts: { pairedAtMs: null } });
  const facts = messageFacts({ pairedAtMs: null, nowMs: START_MS - 5 * HOUR_MS });
  assert.deepEqual(refusalOf(evaluateMessage(ledger, facts)), ['HOURLY_CAP_REACHED', 6 * 3600]);
  const bySettled = evaluateMessage(ledger, messageFacts({ nowMs: START_MS - 5 * HOUR_MS }));
  assert.ok(bySettled.isAdmitted);
  assert.equal(bySettled.entry.atMs, START_MS);
});

describe('a share of the caps', () => {
  const declaration = { expiresAtMs: null, isRevoked: false };
  const settings = resolveSettings({ declaredPerDay: 3 });
  const stranger = { isCustomer: false, lastInboundAtMs: null, declaration, settings, share: 0.1 };

  test('is one a day for a small cap, so that no message waits without end', () => {
    const ledger = new SendLedger();
    const first = evaluateMessage(ledger, messageFacts({ ...stranger, recipient: '+33600000001' }));
    assert.ok(first.isAdmitted);
    ledger.record(first.entry);
    const next = evaluateMessage(ledger, messageFacts({ ...stranger, recipient: '+33600000002' }));
    assert.deepEqual(refusalOf(next), ['DECLARED_RECIPIENT_CAP_REACHED', DAY_MS / 1_000]);
  });

  test('is none if the cap is zero', () => {
    const none = { ...stranger, settings: resolveSettings({ declaredPerDay: 0 }) };
    assert.deepEqual(refusalOf(evaluateMessage(new SendLedger(), messageFacts(none))), [
      'DECLARED_RECIPIENT_CAP_REACHED',
      undefined,
    ]);
  });

  test('is one in a cycle for the network’s small quota', () => {
    const newChats = {
      quota: 3,
      used: 0,
      accepted: 0,
      warning: null,
      endsAtMs: START_MS + HOUR_MS,
      atMs: START_MS,
    };
    const judge = (used: number) => {
      const network = { restriction: null, newChats: { ...newChats, used } };
      return refusalOf(evaluateMessage(new SendLedger(), messageFacts({ ...stranger, network })));
    };
    assert.equal(judge(0), 'admitted');
    assert.deepEqual(judge(1), ['DECLARED_RECIPIENT_CAP_REACHED', HOUR_MS / 1_000]);
  });
});
