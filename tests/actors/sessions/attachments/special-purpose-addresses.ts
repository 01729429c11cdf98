import ipaddr from 'ipaddr.js';

/**
 * IANA's special-purpose address registries, whole (iana.org/assignments/iana-ipv4-special-registry and
 * iana-ipv6-special-registry, as of 2025), with the multicast blocks. A row added there belongs here: what the program
 * makes of it is what the test asks.
 */
export const SPECIAL_PURPOSE: readonly string[] = [
  '0.0.0.0/8',
  '0.0.0.0/32',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.0.0/29',
  '192.0.0.8/32',
  '192.0.0.9/32',
  '192.0.0.10/32',
  '192.0.0.170/32',
  '192.0.0.171/32',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.88.99.2/32',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
  '::1/128',
  '::/128',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:2::/48',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:30::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

/** The first, a middle and the last address of a CIDR range. */
export function edgesOf(range: string): string[] {
  const [first, bits] = ipaddr.parseCIDR(range);
  const bytes = first.toByteArray();
  const withHostBits = (byte: number): string => {
    const filled = bytes.map((value, index) => {
      const hostBits = Math.min(8, Math.max(0, (index + 1) * 8 - bits));
      return value | (byte & (2 ** hostBits - 1));
    });
    return ipaddr.fromByteArray(filled).toString();
  };
  return [withHostBits(0), withHostBits(0x55), withHostBits(0xff)];
}
