import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fleet } from '../e2e/fleet.ts';
import type { History } from './history.ts';

/** An endpoint for the events of several tenants. Of the events that are new to it, it refuses one in `failsEvery`. */
export interface Endpoint {
  /** Makes a webhook of a tenant that leads here. */
  open(fleet: Fleet, tenant: string): Promise<void>;
  close(): void;
}

/** Listens on loopback and writes down each event that comes. */
export async function startEndpoint(history: History, failsEvery: number): Promise<Endpoint> {
  const known = new Set<string>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      const { id, type, data } = JSON.parse(body) as { id: string; type: string; data: { id?: string } };
      const isNew = !known.has(id);
      known.add(id);
      const fails = isNew && known.size % failsEvery === 0;
      const tenant = (request.url ?? '').slice(1);
      if (!fails) history.add({ kind: 'called', tenant, eventId: id, type, about: String(data.id) });
      response.writeHead(fails ? 503 : 204, { connection: 'close' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    async open(fleet, tenant) {
      const url = `http://127.0.0.1:${port}/${tenant}`;
      const { status, error } = await fleet.admin.post(`/tenants/${tenant}/webhooks`, { url });
      if (status >= 300) throw new Error(`no webhook: ${JSON.stringify(error)}`);
    },
    close: () => server.close(),
  };
}
