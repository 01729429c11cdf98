/** An entry of an IP allowlist holds for its own family, in whichever way an address is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipAllowlist } from '../../../actors/tenants/ip-allowlist.ts';

const CASES: readonly (readonly [entry: string, admitted: readonly string[], refused: readonly string[]])[] =
  [
    ['::/0', ['2001:db8::1', '::1'], ['192.0.2.1', '::ffff:192.0.2.1']],
    ['::/1', ['::1', '2001:db8::1'], ['192.0.2.1', 'ffff::1']],
    ['0.0.0.0/0', ['192.0.2.1', '::ffff:192.0.2.1'], ['2001:db8::1', '::1']],
    ['192.0.2.0/24', ['192.0.2.1', '::ffff:192.0.2.1'], ['192.0.3.1', '2001:db8::1']],
    ['::ffff:192.0.2.1', ['192.0.2.1'], ['192.0.2.2', '2001:db8::1']],
    ['::ffff:192.0.2.0/120', ['192.0.2.1', '::ffff:192.0.2.255'], ['192.0.3.1']],
    ['::ffff:0:0/95', ['::fffe:1:1'], ['192.0.2.1']],
    ['2001:db8::/32', ['2001:db8::1'], ['2001:db9::1', '192.0.2.1']],
  ];

for (const [entry, admitted, refused] of CASES) {
  test(`${entry} admits only its own address family`, () => {
    const allows = ipAllowlist([entry]);
    assert.ok(allows);
    for (const address of admitted) assert.equal(allows(address), true, address);
    for (const address of refused) assert.equal(allows(address), false, address);
  });
}

test('an empty allowlist admits every address', () => {
  assert.equal(ipAllowlist([]), undefined);
});
