import { BlockList, isIPv6 } from 'node:net';

/** The part of IPv6 that spells IPv4 addresses (RFC 4291, section 2.5.5.2). */
const MAPPED_PREFIX = 96;
const mappedAddresses = new BlockList();
mappedAddresses.addSubnet('::ffff:0:0', MAPPED_PREFIX, 'ipv6');

/**
 * Returns a fast check of the addresses from which a key may be used, or undefined if all may. Takes the entries that
 * `isAddressRange` (actors/address-range.ts) accepts. An entry applies only to its own family: a BlockList reads each
 * IPv4 address also as IPv6, so `::/0` would admit every caller. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`)
 * counts as IPv4.
 */
export function ipAllowlist(entries: readonly string[]): ((address: string) => boolean) | undefined {
  if (entries.length === 0) return undefined;
  const ipv4 = new BlockList();
  const ipv6 = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const list = family === 'ipv4' || isMapped(address, prefix) ? ipv4 : ipv6;
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) =>
    isIPv6(address) && !isMapped(address, undefined)
      ? ipv6.check(address, 'ipv6')
      : ipv4.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** True if an IPv6 address, or all of a range that begins with it, is IPv4 written as IPv6. */
function isMapped(address: string, prefix: string | undefined): boolean {
  return (prefix === undefined || Number(prefix) >= MAPPED_PREFIX) && mappedAddresses.check(address, 'ipv6');
}
