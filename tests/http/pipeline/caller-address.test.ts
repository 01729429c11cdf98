import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressOfBytes, callerAddress, ipText } from '../../../http/pipeline/caller-address.ts';

describe("the caller's address", () => {
  const caller = callerAddress(['10.0.0.0/8', '2001:db8::1']);

  for (const [row, peer, forwardedFor, expected] of [
    ['no header', '10.0.0.1', '', '10.0.0.1'],
    ['a stranger is not believed', '203.0.113.1', '198.51.100.9', '203.0.113.1'],
    ['the proxy told the caller', '10.0.0.1', '198.51.100.9', '198.51.100.9'],
    ['what the caller made up stands further left', '10.0.0.1', '1.2.3.4, 198.51.100.9', '198.51.100.9'],
    ['through two proxies', '10.0.0.1', '198.51.100.9, 10.2.3.4', '198.51.100.9'],
    ['proxies all the way', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['noise ends the walk', '10.0.0.1', '198.51.100.9, unknown', '10.0.0.1'],
    ['v6 proxy, v6 caller', '2001:db8::1', '2001:db8:0:0::77', '2001:db8::77'],
    ['with a port', '10.0.0.1', '1.2.3.4:80, 198.51.100.9:4711, 10.2.3.4:80', '198.51.100.9'],
    ['v6 with a port', '10.0.0.1', '[2001:DB8::77]:4711', '2001:db8::77'],
    ['v6 in brackets', '10.0.0.1', '[2001:db8::77]', '2001:db8::77'],
    ['a port that is none', '10.0.0.1', '198.51.100.9:http', '10.0.0.1'],
    ['v4 in v6 is v4', '10.0.0.1', '::ffff:198.51.100.9', '198.51.100.9'],
  ] as const)
    test(row, () => assert.equal(caller?.(peer, forwardedFor), expected));

  test('has one form', () => {
    assert.equal(ipText('0000:0000:0000:0000:0000:ffff:7f00:0001'), '127.0.0.1');
    assert.equal(ipText('0000:0000:0000:0000:0000:0000:0000:0001'), '::1');
    assert.equal(addressOfBytes(new Uint8Array([127, 0, 0, 1]).buffer), '127.0.0.1');
    assert.equal(
      addressOfBytes(new Uint8Array([...Array(10).fill(0), 255, 255, 10, 0, 0, 9]).buffer),
      '10.0.0.9',
    );
    assert.equal(addressOfBytes(new Uint8Array([...Array(15).fill(0), 1]).buffer), '::1');
  });
});
