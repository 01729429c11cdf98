import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAddressRange } from '../../actors/address-range.ts';

test('ranges are addresses and CIDRs of both kinds, whole', () => {
  for (const range of ['1.2.3.4', '1.2.3.0/24', '::1', '2001:db8::/32'])
    assert.ok(isAddressRange(range), range);
  for (const range of ['10.1', '1.2.3.4/33', '1.2.3.4.5', 'localhost', '', '0x7f000001'])
    assert.ok(!isAddressRange(range), range);
});
