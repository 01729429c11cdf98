import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isOptOut } from '../../policy/opt-out.ts';
import { isGroupId, isPerson, isPhoneNumber, phoneAsInteger } from '../../policy/recipient.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

test('a phone number is a plus sign and 7 to 15 digits, the first not 0', () => {
  const fine = ['+1234567', '+491701234567', '+999999999999999'];
  const wrong = [
    '+123456',
    '+1234567890123456',
    '+0123456789',
    '491701234567',
    '+49 170 1234567',
    '+4917a1234567',
  ];
  assert.deepEqual(fine.filter(isPhoneNumber), fine);
  assert.deepEqual([...wrong, '', ' +491701234567', '+491701234567\n'].filter(isPhoneNumber), []);
});

test('a group identifier ends in the group suffix', () => {
  const fine = ['120363042345678901@g.us', '491701234567-1612345678@g.us', `${'1'.repeat(64)}@g.us`];
  const wrong = [
    '@g.us',
    '1@s.whatsapp.net',
    '1@gxus',
    '1@g.us.',
    'a b@g.us',
    'a@b@g.us',
    `${'1'.repeat(65)}@g.us`,
  ];
  assert.deepEqual(fine.filter(isGroupId), fine);
  assert.deepEqual(wrong.filter(isGroupId), []);
});

test('a number and the network’s own id name a person, a group does not', () => {
  const people = ['+491701234567', '1@lid', `${'9'.repeat(20)}@lid`];
  const others = ['120363042345678901@g.us', '491701234567', '+49170123456789012', 'a@lid', '@lid', ''];
  assert.deepEqual([...people, ...others].filter(isPerson), people);
});

test('every phone number is its own integer', (context) => {
  const phone = fc.bigInt({ min: 1_000_000n, max: 999_999_999_999_999n });
  fc.assert(
    fc.property(phone, (digits) => {
      assert.equal(`+${phoneAsInteger(`+${digits}`)}`, `+${digits}`);
    }),
    propertyRuns(context, 1_000),
  );
});

describe('opt-out (docs/contract.md, Opt-out)', () => {
  const yes = [
    'STOP',
    'stop',
    'Stop.',
    '  STOP  ',
    'stop!!! ',
    '1. STOP',
    '2) stop',
    '(3) Stop.',
    '1\ufe0f\u20e3 STOP',
    'stop . . .',
    'stop\u2026',
    'STOP?!',
    'ARR\u00caT',
    'arret',
    'Arre\u0302t;',
    'D\u00c9SABONNER',
    'desabonner',
    'De\u0301sabonner.',
    'UNSUBSCRIBE',
    'Unsubscribe\n',
    '\uff33\uff34\uff2f\uff30',
    '\u200eSTOP\u200f',
    '"STOP"',
    '\u201cSTOP\u201d',
    '\u00abstop\u00bb',
    '*STOP*',
    '_stop_',
    '~STOP~',
    '.STOP',
    '!stop!',
    '> stop',
    'STOP \u{1f600}',
    '\u{1f6d1} Stop \u{1f6d1}',
    'STOP \u{1f44d}\u{1f3fd}',
    'stop \u2764\ufe0f',
    '\u26a0\ufe0f*ARR\u00caT*\u26a0\ufe0f',
    'STOP 1\ufe0f\u20e3',
    'stop#\ufe0f\u20e3*\ufe0f\u20e39\u20e3!',
    '1\ufe0f\u20e30\ufe0f\u20e3 stop 1\ufe0f\u20e3 0\ufe0f\u20e3.',
    `${'1\ufe0f\u20e3'.repeat(5_000)}stop${'1\ufe0f\u20e3'.repeat(5_000)}`,
    `stop${'.'.repeat(5_000)}`,
    `${'\u{1f6d1}'.repeat(5_000)}stop${'\u{1f6d1}'.repeat(5_000)}`,
  ];
  const no = [
    '',
    '.',
    'stop it',
    'do not stop',
    'stopp',
    'sto p',
    'stop1',
    'stop 1',
    'stop 1.',
    'stop 1\ufe0f',
    'stop 12\ufe0f\u20e3',
    '1 stop',
    'a. stop',
    '\u{1f600}',
    'stop stop',
    'arreter',
    'unsubscribe me',
    'st\u00f8p',
    `stop${'.'.repeat(5_000)}x`,
    `${'stop '.repeat(1_000)}`,
  ];
  for (const text of yes)
    test(`${JSON.stringify(text.slice(0, 20))} opts out`, () => assert.equal(isOptOut(text), true));
  for (const text of no)
    test(`${JSON.stringify(text.slice(0, 20))} does not`, () => assert.equal(isOptOut(text), false));
});
