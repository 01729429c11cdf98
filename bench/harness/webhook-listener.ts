import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event as a webhook brings it; only what is read here. */
export interface BroughtEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id?: string; readonly text?: string | null };
}

/** The endpoint of all webhooks of a bench. */
export interface WebhookListener {
  readonly url: string;
  /** How many events came, and how many deliveries repeated one. */
  counts(): { readonly events: number; readonly repeats: number };
  close(): void;
}

/** Listens on loopback, accepts every event, and passes on each id once a path: events of two tenants may have one id. */
export async function startWebhookListener(onEvent: (event: BroughtEvent) => void): Promise<WebhookListener> {
  const known = new Set<string>();
  let repeats = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      const event = JSON.parse(body) as BroughtEvent;
      const key = `${request.url} ${event.id}`;
      if (known.has(key)) repeats += 1;
      else onEvent(event);
      known.add(key);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    counts: () => ({ events: known.size, repeats }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
