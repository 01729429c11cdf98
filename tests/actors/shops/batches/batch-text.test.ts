/** The fields in the text of a batch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { batchTextProblem, filledText } from '../../../../actors/shops/texts/batch-text.ts';
import type { KnownRecipient } from '../../../../actors/shops/turns/batches/batch-facts.ts';
import { batchProblems } from '../../../../actors/shops/turns/batches/recipient-problems.ts';
import { hasText } from '../../../../policy/content-rules.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { BatchHarness } from './batch-harness.ts';

const LONGEST = '🥐'.repeat(64);

function known(recipient: KnownRecipient['recipient']): KnownRecipient {
  return { recipient, refusal: undefined, recipientClass: 'known', isThere: false };
}

test('a field may have any name on one line, and a filled-in value is not searched for fields', async () => {
  const run = await BatchHarness.connected();
  const [one] = run.know(1);
  assert.ok(one);
  const fields = { prénom: 'Zoë', 'first name': '{{prénom}}', [LONGEST]: 'x', 'not in the text': 'y' };
  await run.batch({
    recipients: [{ ...one, fields }],
    text: `{{prénom}} {{ first name }} { {{${LONGEST}}}} } {`,
  });
  await run.pass(HOUR_MS);
  assert.deepEqual(
    run.sent.map(({ text }) => text),
    ['Zoë {{prénom}} { x} } {'],
  );
});

test('a name is the same with its accents as parts of letters and after them; the one written exactly so comes first', async () => {
  const [composed, decomposed] = ['prénom'.normalize('NFC'), 'prénom'.normalize('NFD')];
  const run = await BatchHarness.connected();
  const [one, two, three] = run.know(3);
  assert.ok(one && two && three);
  await run.batch({
    recipients: [
      { ...one, fields: { [composed]: 'Ann' } },
      { ...two, fields: { [decomposed]: 'Ben' } },
      { ...three, fields: { [composed]: 'not Cy', [decomposed]: 'Cy' } },
    ],
    text: `hello {{${decomposed}}}`,
  });
  await run.pass(3 * HOUR_MS);
  assert.deepEqual(
    run.sent.map(({ text }) => text),
    ['hello Ann', 'hello Ben', 'hello Cy'],
  );
});

test('a check of a batch normalises each name a few times, however many fields and uses it has', (t) => {
  const names = Array.from({ length: 500 }, (_, index) => `é${index}`);
  const fields = Object.fromEntries(names.map((name) => [name.normalize('NFC'), 'x']));
  const text = names.map((name) => `{{${name.normalize('NFD')}}}`).join('');
  const recipients = [known({ to: '+41790000001', fields })];
  const normalize = t.mock.method(String.prototype, 'normalize');
  assert.deepEqual(batchProblems(recipients, { text: text.repeat(3), mediaUrl: undefined }), []);
  // Each name of the text and of a field: to count its characters, and to compare it.
  assert.equal(normalize.mock.callCount(), 4 * names.length);
});

test('a check of a batch reads each field of a recipient a few times, however often the text uses it', () => {
  let reads = 0;
  const fields = {
    get a() {
      reads += 1;
      return 'x';
    },
  };
  const recipients = [known({ to: '+41790000001', fields }), known({ to: '+41790000002', fields })];
  const problems = batchProblems(recipients, { text: '{{a}}{{ a }}'.repeat(340), mediaUrl: undefined });
  assert.deepEqual([problems, reads], [[], 4]);
});

test('the text that a recipient would get is refused if it is too long or blank, and no other is', (context) => {
  const piece = fc.constantFrom('', ' ', '\u200b', 'x', '🥐', '{{a}}', '{{ b }}', '{', '}');
  const repeated = fc.tuple(piece, fc.constantFrom(1, 2, 400, 4_095, 4_096));
  const texts = fc
    .array(repeated, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map(([each, times]) => each.repeat(times)).join(''));
  const value = fc.constantFrom('', ' ', 'y', '🥐', '🥐🥐', 'ten chars.');
  const property = fc.property(texts, value, value, (text, a, b) => {
    fc.pre(batchTextProblem(text) === undefined);
    const filled = filledText(text, (name) => ({ a, b })[name]);
    const isWrong = [...filled].length > 4_096 || !hasText(filled);
    const problems = batchProblems([known({ to: '+41790000001', fields: { a, b } })], {
      text,
      mediaUrl: undefined,
    });
    assert.equal(problems.length, isWrong ? 1 : 0, JSON.stringify(filled.slice(0, 99)));
  });
  fc.assert(property, propertyRuns(context, 300));
});

test('a name may have 64 characters with accents after their letters; one too long for that is not normalised', async (t) => {
  const run = await BatchHarness.connected();
  const [one] = run.know(1);
  assert.ok(one);
  const fields = { ['é'.repeat(64).normalize('NFD')]: 'Zoë' };
  await run.batch({ recipients: [{ ...one, fields }], text: `{{${'é'.repeat(64).normalize('NFD')}}}` });
  await run.pass(HOUR_MS);
  assert.deepEqual(
    run.sent.map((sent) => sent.text),
    ['Zoë'],
  );
  const normalize = t.mock.method(String.prototype, 'normalize');
  const marked = `a${'\u0301\u0323'.repeat(10_000)}`;
  const recipients = [known({ to: one.to, fields: { [marked]: 'x' } })];
  const problems = batchProblems(recipients, { text: 'hello {{b}}', mediaUrl: undefined });
  assert.equal(problems.length, 2, 'the name, and the missing field');
  assert.ok(normalize.mock.calls.every((call) => (call.this as unknown as string).length < 1_000));
});

for (const [text, field] of [
  ['hello {{prénom}}', 'recipients.0.fields.prénom'],
  ['hello {{first-name}}', 'recipients.0.fields.first-name'],
  ['hello {{ }}', 'text'],
  ['hello {{}} {{name}}', 'text'],
  ['hello {{name}', 'text'],
  ['hello {{{name}}}', 'text'],
  ['hello {{{name}}', 'text'],
  ['hello {{{{name}}}}', 'text'],
  ['hello {{na\nme}}', 'text'],
  [`hello {{x${LONGEST}}}`, 'text'],
] as const) {
  test(`a text that would leave braces in what people get is refused: ${JSON.stringify(text).slice(0, 30)}`, async () => {
    const run = await BatchHarness.connected();
    const reply = await run.create({ recipients: run.know(1), text });
    assert.deepEqual(!reply.ok && reply.failure.fields?.map((problem) => problem.field), [field]);
  });
}
