import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Resolves a name to all its addresses. */
export type ResolveAll = (
  hostname: string,
  done: (error: Error | null, addresses: readonly { address: string; family: number }[]) => void,
) => void;

const resolveAll: ResolveAll = (hostname, done) => {
  systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));
};

/** Thrown where a name leads to an address that nobody outside may make us ask. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor() {
    super('the address is not a public one');
  }
}

/** All that was ever given out of IPv6 (IANA); `::7f00:1` and the like beside it mean IPv4 addresses. */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is out on the public network: neither private, loopback, link-local (the cloud's metadata
 * service lives there), carrier-grade, multicast, reserved nor an IPv4 address dressed up as IPv6. `allowLoopback`
 * is for tests and the simulator.
 */
export function isPublicAddress(address: string, allowLoopback: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (allowLoopback && range === 'loopback') return true;
  return range === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GIVEN_OUT));
}

/**
 * A lookup for `http.request` that refuses a name unless every address of it is public. The connection goes to the
 * very address that was checked, so a name whose answer changes between check and use gains nothing.
 */
export function guardedLookup(options: { allowLoopback: boolean; resolve?: ResolveAll }): LookupFunction {
  const resolve = options.resolve ?? resolveAll;
  return (hostname, wanted, callback) => {
    resolve(hostname, (error, found) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = found;
      const allPublic = found.every(({ address }) => isPublicAddress(address, options.allowLoopback));
      if (first === undefined || !allPublic) return callback(new ForbiddenAddress(), '', 0);
      if (wanted.all === true) return callback(null, [...found]);
      return callback(null, first.address, first.family);
    });
  };
}
