import { Resolver } from 'node:dns/promises';

/** An address that a name leads to. */
export interface FoundAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves a name to all its addresses. Rejects when it has none, or when the signal aborts. */
export type ResolveAll = (hostname: string, signal: AbortSignal) => Promise<readonly FoundAddress[]>;

/** How long one name server may take to answer. Each query is sent once. */
const NAME_SERVER_MS = 2_000;

/** The addresses of `localhost`, which no name server is asked for (RFC 6761, section 6.3). */
const LOOPBACK: readonly FoundAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Returns a look-up that asks name servers on its own sockets. `dns.lookup` takes one of the process's four threads for
 * each name. It waits for a silent server for 10 s or more, and cannot be cancelled. A few such names of one tenant
 * would stop every other look-up of the process. The look-ups of the chat network and of Redis are among them.
 *
 * /etc/hosts and search domains are not read. `nameServers` has addresses with or without a port. If it is empty, the
 * system's are used.
 */
export function nameLookup(nameServers: readonly string[]): ResolveAll {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    if (/^(?:.+\.)?localhost\.?$/i.test(hostname)) return LOOPBACK;
    // One resolver a look-up, because cancelling one cancels all its queries.
    const resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: 1 });
    if (nameServers.length > 0) resolver.setServers(nameServers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      signal.throwIfAborted();
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      return [...addresses(v4, 4), ...addresses(v6, 6)];
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** A family that has no address, or did not answer, leaves the other one. */
function addresses(result: PromiseSettledResult<string[]>, family: 4 | 6): FoundAddress[] {
  return result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }));
}
