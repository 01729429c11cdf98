import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { FoundAddress, ResolveAll } from './name-lookup.ts';

/** Thrown for an address or a port that `AddressGuard` does not allow. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor() {
    super('the address is not a public one, or the port neither 80 nor 443');
  }
}

/**
 * The part of IPv6 from which IANA assigns public addresses; outside it lie IPv4 addresses in other forms (`::7f00:1`).
 */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public addresses that reach a private network: Azure's WireServer, which every virtual machine there reaches. IANA's
 * special-purpose ranges are refused by the kind that ipaddr.js gives them. Those that are reachable from everywhere
 * (AS112, AMT, ORCHIDv2) are refused too, since no attachments are kept there.
 */
const ALSO_DENIED = ranges(['168.63.129.16']);

type Range = ReturnType<typeof ipaddr.parseCIDR>;

function ranges(texts: readonly string[]): Range[] {
  return texts.map((text) =>
    ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`),
  );
}

/**
 * Names that lead into a local network. Some are reserved for that (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`).
 * Routers and companies use other names too (RFC 6762, appendix G). A search domain is added to names of one part.
 */
const LOCAL_NAME =
  /^[^.]*$|(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;

const LOOPBACK_NAME = /(?:^|\.)localhost$/;

/** The addresses that attachments are fetched from and webhooks are sent to. */
export class AddressGuard {
  readonly #allowLoopback: boolean;
  readonly #denied: readonly Range[];

  /**
   * `allowLoopback` is for tests and the simulator. `deniedRanges` has addresses and CIDR ranges to which no connection
   * is made, though they are public. Throws on an entry that is neither.
   */
  constructor(options: { readonly allowLoopback: boolean; readonly deniedRanges: readonly string[] }) {
    this.#allowLoopback = options.allowLoopback;
    this.#denied = [...ALSO_DENIED, ...ranges(options.deniedRanges)];
  }

  /**
   * True if a connection to an address and a port is allowed. The address must be on the public network. Private,
   * loopback, link-local (the cloud's metadata service), carrier-grade, multicast and reserved addresses are refused,
   * and IPv4 addresses written as IPv6. The port must be 80 or 443, so that no caller can probe other ports through us.
   * On loopback, if that is allowed, it may be any.
   */
  allows(address: string, port: number): boolean {
    if (!ipaddr.isValid(address)) return false;
    const parsedAddress = ipaddr.parse(address);
    const range = parsedAddress.range();
    if (this.#allowLoopback && range === 'loopback') return true;
    if (port !== 80 && port !== 443) return false;
    if (range !== 'unicast' || (parsedAddress instanceof ipaddr.IPv6 && !parsedAddress.match(GIVEN_OUT)))
      return false;
    return !this.#denied.some(
      (range) => range[0].kind() === parsedAddress.kind() && parsedAddress.match(range),
    );
  }

  /**
   * True if a request to the host of a URL is allowed through a proxy. The proxy resolves the name, so its addresses
   * are not known here. An address is judged as above. A name must not be one of a local network. The proxy must
   * restrict the addresses that it connects to.
   */
  allowsUnresolved(hostname: string, port: number): boolean {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (ipaddr.isValid(host)) return this.allows(host, port);
    const name = host.toLowerCase().replace(/\.$/, '');
    if (this.#allowLoopback && LOOPBACK_NAME.test(name)) return true;
    return (port === 80 || port === 443) && !LOCAL_NAME.test(name);
  }
}

/**
 * A lookup for `http.request` that refuses a name unless all of its addresses are allowed at the port. The connection
 * uses the checked address, so a name whose address changes between check and use gains nothing.
 */
export function guardedLookup(options: {
  readonly guard: AddressGuard;
  readonly port: number;
  readonly resolve: ResolveAll;
  readonly signal: AbortSignal;
}): LookupFunction {
  const { guard, port, resolve, signal } = options;
  const lookUpAllowed = async (hostname: string): Promise<[FoundAddress, ...FoundAddress[]]> => {
    const [first, ...otherAddresses] = await resolve(hostname, signal);
    if (first === undefined) throw new ForbiddenAddress();
    if (![first, ...otherAddresses].every(({ address }) => guard.allows(address, port)))
      throw new ForbiddenAddress();
    return [first, ...otherAddresses];
  };
  return (hostname, lookupOptions, callback) => {
    lookUpAllowed(hostname).then(
      (addresses) => {
        if (lookupOptions.all === true) callback(null, addresses);
        else callback(null, addresses[0].address, addresses[0].family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}
