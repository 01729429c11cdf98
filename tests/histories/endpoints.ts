import type { Fleet } from '../e2e/stack/fleet.ts';
import { listening } from '../testbed/listening.ts';
import { webhookServer } from '../testbed/webhook-server.ts';
import { eventFact, type History, type ToldEvent } from './history.ts';

/** An endpoint for the events of several tenants. It refuses one in `failsEvery` of the events that are new to it. */
export interface Endpoint {
  /** The addresses of a tenant: each number is another one, and all lead here. */
  address(tenant: string, number: number): string;
  /** Makes a webhook of a tenant that leads here; its id. */
  open(fleet: Fleet, tenant: string): Promise<string>;
  close(): void;
}

/** Listens on loopback and writes down each event that comes and is not refused. */
export async function startEndpoint(history: History, failsEvery: number): Promise<Endpoint> {
  const known = new Set<string>();
  const server = webhookServer(({ path, body }, response) => {
    const event = JSON.parse(body) as ToldEvent;
    const isNew = !known.has(event.id);
    known.add(event.id);
    const fails = isNew && known.size % failsEvery === 0;
    const [, tenant = ''] = path.split('/');
    if (!fails) history.add(eventFact('called', tenant, event));
    response.writeHead(fails ? 503 : 204, { connection: 'close' }).end();
  });
  const port = await listening(server);
  const address = (tenant: string, number: number): string => `http://127.0.0.1:${port}/${tenant}/${number}`;
  return {
    address,
    async open(fleet, tenant) {
      const { status, data, error } = await fleet.admin.post(`/tenants/${tenant}/webhooks`, {
        url: address(tenant, 0),
      });
      if (status >= 300) throw new Error(`no webhook: ${JSON.stringify(error)}`);
      return String(data.id);
    },
    close: () => server.close(),
  };
}
