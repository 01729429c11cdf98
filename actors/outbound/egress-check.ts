import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Egress } from './egress.ts';
import { EgressFailure } from './egress-failure.ts';

/**
 * Checks that the address of a socket (`ws:` or `wss:`) can be reached through an egress. Any HTTP answer counts, over
 * TLS if the socket has it. Rejects with `EgressFailure`, also when the signal aborts.
 */
export async function reachThrough(egress: Egress, socketUrl: string, signal: AbortSignal): Promise<void> {
  const url = new URL(socketUrl.replace(/^ws/, 'http'));
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  await new Promise<void>((reached, failed) => {
    const asking = request(url, { agent: egress.agent(url.protocol, { signal }), signal }, (answer) => {
      answer.destroy();
      reached();
    });
    asking.on('error', (error: NodeJS.ErrnoException) => {
      if (error instanceof EgressFailure) failed(error);
      else failed(new EgressFailure(messageOf(error, signal), { isProxy: false }));
    });
    asking.end();
  });
}

function messageOf({ code }: NodeJS.ErrnoException, signal: AbortSignal): string {
  if (signal.aborted) return 'the egress brought no answer of the chat network in time';
  return `the egress brought no answer of the chat network${code === undefined ? '' : ` (${code})`}`;
}
