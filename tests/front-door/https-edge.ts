import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { freePorts } from '../testbed/free-ports.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import type { TestCertificate } from './test-certificate.ts';

/** A server at which HTTPS ends. */
export interface HttpsEdge {
  readonly port: number;
  /** The authority that its callers trust, PEM. */
  readonly ca: string;
  /** The address at which it speaks HTTP. */
  readonly plainUrl: string;
}

/** A call over HTTPS. `from`: the caller's address on loopback. */
interface HttpsCall {
  readonly token: string;
  readonly from?: string;
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a call, and trusts the edge's authority alone. Resolves once the head of the answer is there. */
export function httpsCall(
  { port, ca }: Pick<HttpsEdge, 'port' | 'ca'>,
  path: string,
  { token, from, method, body, headers }: HttpsCall,
): Promise<IncomingMessage> {
  const given = { ...headers, host: 'localhost', authorization: `Bearer ${token}` };
  const sent = body === undefined ? given : { ...given, 'content-type': 'application/json' };
  const place = { port, ca, host: '127.0.0.1', servername: 'localhost', localAddress: from };
  return new Promise((resolve, reject) => {
    request({ ...place, path, method, headers: sent, agent: false }, resolve)
      .on('error', reject)
      .end(body && JSON.stringify(body));
  });
}

/** The server of docs/tls.md in an nginx that is the proxy too. */
interface Balancer {
  /** The edges before the ports of the proxy, for tenants and for operators. */
  readonly edges: readonly [HttpsEdge, HttpsEdge];
  /** Adds the server to the proxy's configuration. */
  readonly change: (configuration: string) => string;
}

/**
 * Prepares the server of docs/tls.md before each of the two ports of the proxy. It connects from `address`.
 * `forwardedFor`: what it says of its caller instead of the page's words.
 */
export async function balancerBefore(
  { ca, folder }: TestCertificate,
  { address, forwardedFor }: { readonly address: string; readonly forwardedFor?: string },
): Promise<Balancer> {
  const page = readRepositoryFile('docs/tls.md');
  const [, servers = ''] = /```nginx\n([\s\S]+?)```/.exec(page) ?? [];
  assert.ok(servers.includes('$proxy_add_x_forwarded_for'), 'docs/tls.md has such a server');
  const [port = 0, plainPort = 0, operatorsPort = 0, operatorsPlainPort = 0] = await freePorts(4);
  const edge = (secure: number, plain: number) => ({
    port: secure,
    ca,
    plainUrl: `http://127.0.0.1:${plain}`,
    servers: servers
      .replace('listen 443 ssl;', `listen 127.0.0.1:${secure} ssl; proxy_bind ${address};`)
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replaceAll('/etc/ssl/api', folder)
      .replace('$proxy_add_x_forwarded_for', forwardedFor ?? '$proxy_add_x_forwarded_for'),
  });
  const edges = [edge(port, plainPort), edge(operatorsPort, operatorsPlainPort)] as const;
  const change = (configuration: string): string => {
    const fronts = [...configuration.matchAll(/listen (127\.0\.0\.1:\d+);/g)].map(([, front = '']) => front);
    assert.equal(fronts.length, edges.length);
    const added = edges.map((each, index) =>
      each.servers.replace(/127\.0\.0\.1:3000\b/, fronts[index] ?? ''),
    );
    return configuration.replace(/\}\s*$/, `${added.join('\n')}\n}`);
  };
  return { edges, change };
}
