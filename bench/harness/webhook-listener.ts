import { listening } from '../../tests/testbed/listening.ts';
import { webhookServer } from '../../tests/testbed/webhook-server.ts';

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

/**
 * Listens on loopback and accepts every event. Passes on each id once for each path, because events of two tenants may
 * have one id.
 */
export async function startWebhookListener(onEvent: (event: BroughtEvent) => void): Promise<WebhookListener> {
  const known = new Set<string>();
  let repeats = 0;
  const server = webhookServer(({ path, body }, response) => {
    const event = JSON.parse(body) as BroughtEvent;
    const key = `${path} ${event.id}`;
    if (known.has(key)) repeats += 1;
    else onEvent(event);
    known.add(key);
    response.writeHead(204).end();
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    counts: () => ({ events: known.size, repeats }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
