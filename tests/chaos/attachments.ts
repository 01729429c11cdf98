import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { listening } from '../testbed/listening.ts';
import type { ChaosShop } from './chaos-shops.ts';

/** Sends a document; its message's id. */
export async function sendAttachment(
  { api, id }: ChaosShop,
  { to, url }: { readonly to: string; readonly url: string },
): Promise<string> {
  const body = { channel: 'msgapp', to, mediaUrl: url, mediaType: 'document', idempotencyKey: to };
  const answer = await api.post(`/shops/${id}/messages`, body);
  assert.ok(answer.status === 202 || answer.status === 200, JSON.stringify(answer.error));
  return String(answer.data.id);
}

/** A file on loopback by its address, where the service fetches from it beside a simulator. */
export async function attachmentHost(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4');
  });
  const url = `http://127.0.0.1:${await listening(server)}/file.pdf`;
  return { url, close: () => void server.close() };
}
