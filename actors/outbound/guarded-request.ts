import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type AddressGuard, ForbiddenAddress, guardedLookup } from './address-guard.ts';
import type { ResolveAll } from './name-lookup.ts';

/** The bounds of a request: the addresses that it may go to, the look-up of names, and its end. */
export interface RequestBounds {
  readonly guard: AddressGuard;
  readonly resolve: ResolveAll;
  /** Ends the request, and the look-up before it. */
  readonly signal: AbortSignal;
}

/** A request, and the authorities whose certificates it trusts. */
export interface SentRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string;
  /** Certificates of authorities to trust in place of the system's. */
  readonly ca?: string;
}

/**
 * Asks an address at http or https on a connection of its own, to the very address that was checked. Resolves with the
 * answer's head; redirects are not followed, and protocols not switched. Rejects with `ForbiddenAddress` where the guard
 * forbids it.
 */
export async function guardedRequest(
  url: URL,
  { guard, resolve, signal }: RequestBounds,
  { method = 'GET', headers, body, ca }: SentRequest,
): Promise<IncomingMessage> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  // Node connects to a literal address without any lookup.
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !guard.allows(literal, port)) throw new ForbiddenAddress();
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const lookup = guardedLookup({ guard, port, resolve, signal });
  const trusted = ca === undefined ? {} : { ca };
  return new Promise((answered, failed) => {
    const outgoing = request(url, { method, headers, lookup, agent: false, signal, ...trusted }, answered);
    outgoing.on('error', failed);
    // Node takes a 101 for no answer, and leaves its connection to whoever listens for it.
    outgoing.on('upgrade', (answer, socket) => {
      socket.destroy();
      answered(answer);
    });
    // Whatever the other side did: a connection that is closed brings no answer any more.
    outgoing.on('close', () => failed(new Error('the connection was closed without an answer')));
    outgoing.end(body);
  });
}
