import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { FoundAddress, ResolveAll } from './name-lookup.ts';

/** Thrown for an address that is not public, or a port other than 80 and 443. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';

  constructor() {
    super('the address is not a public one, or the port neither 80 nor 443');
  }
}

/** The part of IPv6 from which IANA assigns public addresses; outside it lie IPv4 addresses in other forms (`::7f00:1`). */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public addresses that reach a private network: Azure's WireServer, which every virtual machine there reaches. IANA's
 * special-purpose ranges are refused by the kind that ipaddr.js gives them, also those that are reachable from
 * everywhere (AS112, AMT, ORCHIDv2): nobody keeps attachments there.
 */
const ALSO_DENIED = ranges(['168.63.129.16']);

type Range = ReturnType<typeof ipaddr.parseCIDR>;

function ranges(texts: readonly string[]): Range[] {
  return texts.map((text) =>
    ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`),
  );
}

/**
 * Names that lead into a network of one's own: those reserved for that (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`), those
 * that routers and companies use beside them (RFC 6762, appendix G), and names of one part, to which a search domain is added.
 */
const LOCAL_NAME =
  /^[^.]*$|(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;

const LOOPBACK_NAME = /(?:^|\.)localhost$/;

/** The addresses that attachments are fetched from and webhooks are sent to. */
export class AddressGuard {
  readonly #allowLoopback: boolean;
  readonly #denied: readonly Range[];

  /**
   * `allowLoopback`: for tests and the simulator. `deniedRanges`: addresses and CIDR ranges that are never asked,
   * though they are public. Throws on one that is neither.
   */
  constructor(options: { readonly allowLoopback: boolean; readonly deniedRanges: readonly string[] }) {
    this.#allowLoopback = options.allowLoopback;
    this.#denied = [...ALSO_DENIED, ...ranges(options.deniedRanges)];
  }

  /**
   * Whether an address and a port may be asked. The address has to be out on the public network: neither private,
   * loopback, link-local (the cloud's metadata service lives there), carrier-grade, multicast, reserved nor an IPv4
   * address written as IPv6. The port has to be 80 or 443, so that no caller can probe other ports through us; on
   * loopback, where that is allowed, it may be any.
   */
  allows(address: string, port: number): boolean {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (this.#allowLoopback && range === 'loopback') return true;
    if (port !== 80 && port !== 443) return false;
    if (range !== 'unicast' || (parsed instanceof ipaddr.IPv6 && !parsed.match(GIVEN_OUT))) return false;
    return !this.#denied.some((denied) => denied[0].kind() === parsed.kind() && parsed.match(denied));
  }

  /**
   * The same of the host of a URL that a proxy looks up, so that its addresses are not known here: an address as above, and a
   * name that is not one of a local network. To which address the proxy goes is for the proxy to bound.
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
 * A lookup for `http.request` that refuses a name unless every address of it may be asked at the port. The connection goes to the
 * very address that was checked, so a name whose answer changes between check and use gains nothing.
 */
export function guardedLookup(options: {
  readonly guard: AddressGuard;
  readonly port: number;
  readonly resolve: ResolveAll;
  readonly signal: AbortSignal;
}): LookupFunction {
  const { guard, port, resolve, signal } = options;
  const checked = async (hostname: string): Promise<[FoundAddress, ...FoundAddress[]]> => {
    const [first, ...others] = await resolve(hostname, signal);
    if (first === undefined) throw new ForbiddenAddress();
    if (![first, ...others].every(({ address }) => guard.allows(address, port))) throw new ForbiddenAddress();
    return [first, ...others];
  };
  return (hostname, wanted, callback) => {
    checked(hostname).then(
      (found) => {
        if (wanted.all === true) callback(null, found);
        else callback(null, found[0].address, found[0].family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}
