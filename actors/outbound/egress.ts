import type { ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { Agent, type AgentConnectOpts } from 'agent-base';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import type { EgressAddress } from '../egress-address.ts';
import { EgressFailure } from './egress-failure.ts';

/** How long a proxy may take until it has made a connection, in milliseconds. */
const CONNECT_MS = 15_000;

/** The egress of a shop: its proxy makes each connection, and also resolves the name. */
export interface Egress {
  /**
   * Returns an agent for requests of that protocol. Its connections fail with `EgressFailure`, and never go another
   * way. `ca`: the certificate of an authority to trust instead of the system's. `signal` ends connections, also those
   * not made yet, which the signal of a request does not end.
   */
  agent(protocol: string, options?: Pick<EgressAgentOptions, 'ca' | 'signal'>): Agent;
}

/**
 * Returns the egress through a proxy. `proxyFailed` is called before the connection fails, if the proxy itself is
 * unreachable or refuses us.
 */
export function egressThrough(
  address: EgressAddress,
  proxyFailed: (failure: EgressFailure) => void = () => undefined,
): Egress {
  return {
    agent: (protocol, options) =>
      new EgressAgent({ ...options, address, proxyFailed, isSecure: protocol === 'https:' }),
  };
}

interface EgressAgentOptions {
  readonly address: EgressAddress;
  readonly proxyFailed: (failure: EgressFailure) => void;
  readonly isSecure: boolean;
  readonly ca?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Makes each connection with a separate agent, so that one that does not succeed can be ended. */
class EgressAgent extends Agent {
  readonly #options: EgressAgentOptions;

  constructor(options: EgressAgentOptions) {
    super({ keepAlive: false });
    this.#options = options;
    const { isSecure } = options;
    this.protocol = isSecure ? 'https:' : 'http:';
    this.defaultPort = isSecure ? 443 : 80;
  }

  /** The package reads the protocol off the stack of an error, and session workers keep no stacks. */
  override isSecureEndpoint(): boolean {
    return this.#options.isSecure;
  }

  override async connect(request: ClientRequest, options: AgentConnectOpts): Promise<Duplex> {
    const { ca, proxyFailed, signal } = this.#options;
    signal?.throwIfAborted();
    const closing = new AbortController();
    const timer = setTimeout(() => closing.abort(), CONNECT_MS);
    const eitherSignal = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    let status = 200;
    request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      status = statusCode;
    });
    try {
      const trusting = ca === undefined ? options : { ...options, ca };
      const making = this.#proxyAgent(eitherSignal).connect(request, trusting) as Promise<Duplex>;
      const socket = await unlessAborted(making, eitherSignal);
      if (status === 200) return socket;
      // The package's socket is not a connection: it repeats the proxy's reply as if the address had sent it.
      socket.destroy();
      throw refusalOf(status);
    } catch (error) {
      signal?.throwIfAborted();
      const failure = closing.signal.aborted
        ? new EgressFailure('the egress did not answer in time', { isProxy: true })
        : failureOf(error);
      if (failure.isProxy) proxyFailed(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The packages log their input in plain text if `DEBUG` is set, so credentials stay out of addresses. */
  #proxyAgent(signal: AbortSignal): Pick<Agent, 'connect'> {
    const { kind, host, port, credentials } = this.#options.address;
    if (kind === 'http') {
      const { user = '', password = '' } = credentials ?? {};
      const token = Buffer.from(`${user}:${password}`).toString('base64');
      const headers = credentials === null ? {} : { 'Proxy-Authorization': `Basic ${token}` };
      return new HttpsProxyAgent(`http://${host}:${port}`, { headers, signal } as {
        headers: typeof headers;
      });
    }
    // With `socks5h` the proxy resolves names.
    const proxy = new URL(`socks5h://${host}:${port}`);
    if (credentials !== null) {
      proxy.username = encodeURIComponent(credentials.user);
      proxy.password = encodeURIComponent(credentials.password);
    }
    // The agent ends a failed connection by itself, after 30 s.
    const agent = new SocksProxyAgent(proxy);
    // The agent would resolve an IPv6 address in brackets as a name.
    agent.proxy.host = host.replace(/^\[|\]$/g, '');
    return agent;
  }
}

/** Rejects as soon as the signal aborts; a connection that is made all the same is ended. */
async function unlessAborted(making: Promise<Duplex>, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    making.then((socket) => {
      if (signal.aborted) socket.destroy();
      else resolve(socket);
    }, reject);
  });
}

/** RFC 7231, section 4.3.6: any other answer than a success means that no tunnel was made. */
function refusalOf(status: number): EgressFailure {
  // Some answer 401 if the password is wrong (tinyproxy).
  if (status === 407 || status === 401) return credentialsRefused();
  return new EgressFailure(`the egress made no connection (HTTP ${status})`, { isProxy: false });
}

function credentialsRefused(): EgressFailure {
  return new EgressFailure('the egress refuses the user name and password', { isProxy: true });
}

/** Translates an error of the packages into a message without any data of the proxy. */
function failureOf(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const { message = '', code } = error as { readonly message?: string; readonly code?: string };
  const reply = /^Socks5 proxy rejected connection - (\w+)/.exec(message)?.[1];
  if (reply !== undefined)
    return new EgressFailure(`the egress made no connection (${reply})`, { isProxy: false });
  if (/^Socks5 Authentication failed|no accepted authentication type/i.test(message))
    return credentialsRefused();
  const cause = code ?? /\bE[A-Z]{3,}\b/.exec(message)?.[0];
  return new EgressFailure(`the egress cannot be reached${cause === undefined ? '' : ` (${cause})`}`, {
    isProxy: true,
  });
}
