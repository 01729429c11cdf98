import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type AddressGuard, ForbiddenAddress, guardedLookup } from './address-guard.ts';
import type { Egress } from './egress.ts';
import type { ResolveAll } from './name-lookup.ts';

/** The limits of a request: the allowed addresses, the look-up of names, and its end. */
export interface RequestBounds {
  readonly guard: AddressGuard;
  readonly resolve: ResolveAll;
  /** The egress, which resolves names instead of `resolve`. If absent, this node's own address. */
  readonly egress?: Egress | undefined;
  /** Ends the request, and the look-up before it. */
  readonly signal: AbortSignal;
}

/** A request, and the authorities whose certificates it trusts. */
export interface SentRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string;
  /** Certificates of authorities to trust instead of the system's. */
  readonly ca?: string;
}

/**
 * Sends a request to an http or https address on a separate connection, to the checked address. Resolves with the
 * response's head. Redirects are not followed, and protocols not switched. Rejects with `ForbiddenAddress` if the guard
 * forbids it, and with `EgressFailure` if the egress fails.
 */
export async function guardedRequest(
  url: URL,
  bounds: RequestBounds,
  { method = 'GET', headers, body, ca }: SentRequest,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { signal } = bounds;
  const routeOptions = wayTo(url, bounds);
  const trustOptions = ca === undefined ? {} : { ca };
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      url,
      { method, headers, signal, ...routeOptions, ...trustOptions },
      resolve,
    );
    clientRequest.on('error', reject);
    // Node does not count a 101 as an answer, and leaves its connection to this listener.
    clientRequest.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve(answer);
    });
    // For any cause: a closed connection brings no response any more.
    clientRequest.on('close', () => reject(new Error('the connection was closed without an answer')));
    clientRequest.end(body);
  });
}

/** Reads the body of a response. Resolves with undefined, and ends the response, if it has more than `maxBytes`. */
export async function wholeOf(response: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns the options with which Node connects to that address, through the egress or directly. Throws
 * `ForbiddenAddress`.
 */
function wayTo(
  url: URL,
  { guard, resolve, egress, signal }: RequestBounds,
): Pick<RequestOptions, 'agent' | 'lookup'> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  if (egress !== undefined) {
    if (!guard.allowsUnresolved(url.hostname, port)) throw new ForbiddenAddress();
    return { agent: egress.agent(url.protocol, { signal }) };
  }
  // Node connects to a literal address without any lookup.
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !guard.allows(literal, port)) throw new ForbiddenAddress();
  return { agent: false, lookup: guardedLookup({ guard, port, resolve, signal }) };
}
