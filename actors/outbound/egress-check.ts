import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Egress } from './egress.ts';
import { EgressFailure } from './egress-failure.ts';

/** How long a connection may take, in milliseconds. */
const CONNECTED_WITHIN_MS = 10_000;

/**
 * Makes a connection to the socket's address through a proxy. Resolves with the reason if it fails, or undefined if it
 * works.
 */
export async function egressProblem(egress: Egress, socketUrl: string): Promise<string | undefined> {
  try {
    await reachThrough(egress, socketUrl, AbortSignal.timeout(CONNECTED_WITHIN_MS));
    return undefined;
  } catch (error) {
    if (error instanceof EgressFailure) return error.message;
    throw error;
  }
}

/**
 * Checks that the address of a socket (`ws:` or `wss:`) can be reached through an egress. Any HTTP answer counts, over
 * TLS if the socket has it. Rejects with `EgressFailure`, also when the signal aborts.
 */
export async function reachThrough(egress: Egress, socketUrl: string, signal: AbortSignal): Promise<void> {
  const url = new URL(socketUrl.replace(/^ws/, 'http'));
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  await new Promise<void>((resolve, reject) => {
    const asking = request(url, { agent: egress.agent(url.protocol, { signal }), signal }, (answer) => {
      answer.destroy();
      resolve();
    });
    asking.on('error', (error: NodeJS.ErrnoException) => {
      if (error instanceof EgressFailure) reject(error);
      else reject(new EgressFailure(problemOf(error, signal), { isProxy: false }));
    });
    asking.end();
  });
}

function problemOf({ code }: NodeJS.ErrnoException, signal: AbortSignal): string {
  if (signal.aborted) return 'the egress brought no answer of the chat network in time';
  return `the egress brought no answer of the chat network${code === undefined ? '' : ` (${code})`}`;
}
