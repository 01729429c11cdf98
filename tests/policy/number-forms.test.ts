import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasTwoForms, isSameRecipient, numberForms, recipientKey } from '../../policy/number-forms.ts';
import { phoneAsInteger } from '../../policy/recipient.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

const pairs = [
  ['Brazil', '+553196348800', '+5531996348800'],
  ['Brazil', '+551181234567', '+5511981234567'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Argentina', '+541123456789', '+5491123456789'],
] as const;

for (const [country, short, long] of pairs) {
  test(`${short} and ${long} are two forms of one number of ${country}, counted as one`, () => {
    assert.deepEqual(numberForms(short), [short, long]);
    assert.deepEqual(numberForms(long), [long, short]);
    assert.equal(recipientKey(short), phoneAsInteger(short));
    assert.equal(recipientKey(long), recipientKey(short));
    assert.ok(isSameRecipient(short, long));
    assert.ok(hasTwoForms(short));
  });
}

test('two texts name one recipient if they are equal, or two forms of one number', () => {
  const group = '120363000000000001@g.us';
  assert.ok(isSameRecipient(group, group));
  assert.ok(!isSameRecipient(group, '120363000000000002@g.us'));
  assert.ok(!isSameRecipient('+33612345678', '+33612345679'));
  assert.ok(!isSameRecipient('33612345678@lid', '+33612345678'));
  assert.ok(!isSameRecipient('+33612345678', group));
});

test('a number that cannot be a mobile number of these countries has one form', () => {
  const others = [
    '+553136348800', // a landline of Brazil
    '+5510987654321', // an area code of Brazil holds no 0
    '+551087654321',
    '+5511951234567', // and behind the 9 comes a 6 at least
    '+551151234567',
    '+5211123456789', // a Mexican number begins with 2 at least
    '+5490123456789', // an area code of Argentina begins with 1 to 3
    '+540123456789',
    '+55319963488001', // too long
    '+5530963488', // too short
    '+521551234567', // a Mexican number is ten digits long, and none begins with 1
    '+5491',
    '+54923456789',
    '+549923456789',
    '+5599',
    '+33612345678',
    '+520000000000',
  ];
  for (const phone of others) assert.deepEqual(numberForms(phone), [phone], phone);
  assert.deepEqual(numberForms('120363000000000001@g.us'), ['120363000000000001@g.us']);
});

test('the network’s own ids count as integers that no number has and a double represents exactly', () => {
  const longestNumber = recipientKey(`+${'9'.repeat(15)}`);
  const ids = ['1@lid', '2@lid', '5531996348800@lid', `${'9'.repeat(20)}@lid`];
  const keys = ids.map(recipientKey);
  assert.ok(
    keys.every((key) => key > longestNumber && Number.isSafeInteger(key)),
    String(keys),
  );
  assert.equal(new Set(keys).size, ids.length);
  assert.deepEqual(ids.filter(hasTwoForms), []);
  for (const other of ['@lid', '1@lid.', `${'1'.repeat(21)}@lid`, '1@g.us'])
    assert.throws(() => recipientKey(other), TypeError, other);
});

test('forms lead to each other, and numbers share a key only with their forms', (context) => {
  const national = fc.stringMatching(/^[0-9]{7,11}$/);
  const phone = fc
    .tuple(fc.constantFrom('52', '54', '55', '5', '33', '1'), national)
    .map(([code, rest]) => `+${code}${rest}`);
  fc.assert(
    fc.property(phone, phone, (one, other) => {
      for (const form of numberForms(one)) {
        assert.deepEqual(new Set(numberForms(form)), new Set(numberForms(one)));
        assert.equal(recipientKey(form), recipientKey(one));
      }
      assert.equal(recipientKey(one) === recipientKey(other), numberForms(one).includes(other));
    }),
    propertyRuns(context, 2_000),
  );
});
