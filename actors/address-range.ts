import { isIP } from 'node:net';

/** The length of a prefix, without leading zeros. */
const PREFIX = /^(0|[1-9]\d{0,2})$/;

/** True for an IP address or a CIDR range, v4 or v6, in the forms that Node's BlockList takes; without a zone. */
export function isAddressRange(range: string): boolean {
  const [address = '', prefix, ...otherParts] = range.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || otherParts.length > 0) return false;
  return prefix === undefined || (PREFIX.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
