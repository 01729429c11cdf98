/** The fields in the text of a batch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { BatchHarness } from './batch-harness.ts';

const LONGEST = '🥐'.repeat(64);

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
