import { createServer, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request of a webhook. */
export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a server for webhooks, which reads each request to its end and then calls `answer`. */
export function webhookServer(answer: (delivery: Delivery, response: ServerResponse) => void): Server {
  return createServer((request, response) => {
    const headers = request.headers as Record<string, string>;
    text(request).then(
      (body) => answer({ path: request.url ?? '', headers, body }, response),
      () => undefined,
    );
  });
}
