import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkSettings, resolveSettings } from '../../policy/tenant-settings.ts';

const table = [
  ['coldPerDay', null, 1, 50],
  ['declaredPerDay', 30, 0, 200],
  ['groupsPerDay', 20, 1, 100],
  ['groupPerRecipient24h', 2, 1, 5],
  ['statusesPerDay', 10, 1, 30],
] as const;

describe('settings (docs/contract.md, Settings)', () => {
  for (const [field, usual, floor, roof] of table) {
    test(`${field} is ${usual ?? 'derived'} unless tuned, from ${floor} to ${roof}, refused outside and not clamped`, () => {
      for (const tuning of [{}, { [field]: null }, { [field]: undefined }])
        assert.equal(resolveSettings(tuning)[field], usual);
      for (const value of [floor, roof]) {
        assert.deepEqual(checkSettings({ [field]: value }), []);
        assert.equal(resolveSettings({ [field]: value })[field], value);
      }
      const message = `must be a whole number from ${floor} to ${roof}`;
      for (const value of [floor - 1, roof + 1, floor + 0.5, `${floor}`, Number.NaN, true, {}])
        assert.deepEqual(checkSettings({ [field]: value }), [{ field, message }]);
      assert.throws(() => resolveSettings({ [field]: roof + 1 }), new RangeError(`${field} ${message}`));
    });
  }

  test('every problem is named at a time, unknown settings too', () => {
    const problems = checkSettings({ coldPerDay: 0, statusesPerDay: 31, perDay: 1, toString: 1 });
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['coldPerDay', 'statusesPerDay', 'perDay', 'toString'],
    );
    assert.equal(problems[2]?.message, 'is not a setting');
  });

  test('settings must be an object', () => {
    for (const input of [null, undefined, [], 'x', 1])
      assert.deepEqual(checkSettings(input), [{ field: 'settings', message: 'must be an object' }]);
    assert.deepEqual(checkSettings({}), []);
  });
});
