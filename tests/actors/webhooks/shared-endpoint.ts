import { after, before } from 'node:test';
import { listening } from '../../testbed/listening.ts';
import { webhookServer } from '../../testbed/webhook-server.ts';

/**
 * Starts a server for webhooks before the tests of a file, and closes it after them. Its address is empty until then.
 */
export function sharedEndpoint(answer: Parameters<typeof webhookServer>[0]): { readonly url: string } {
  const server = webhookServer(answer);
  const endpoint = { url: '' };
  before(async () => {
    endpoint.url = `http://127.0.0.1:${await listening(server)}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return endpoint;
}
