import { Webhook } from 'standardwebhooks';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { listening } from '../testbed/listening.ts';
import { webhookServer } from '../testbed/webhook-server.ts';

/** An endpoint that several tenants' webhooks lead to, which checks each signature with the secret of its webhook. */
export interface SignedEndpoint {
  /** Makes a webhook of a tenant that leads here. Returns its id. */
  open(fleet: Fleet, tenantId: string): Promise<string>;
  /** Ids that events with a good signature were about, by their type: `message.sent 66f…`. */
  readonly told: ReadonlySet<string>;
  /** Bodies whose signature was not made with the tenant's secret. */
  readonly forged: readonly string[];
  close(): void;
}

/** Listens on loopback, and answers 204 to what is signed as it should be. */
export async function startSignedEndpoint(): Promise<SignedEndpoint> {
  const secrets = new Map<string, string>();
  const told = new Set<string>();
  const forged: string[] = [];
  const server = webhookServer(({ path, headers, body }, response) => {
    const secret = secrets.get(path.slice(1)) ?? '';
    let isGood = true;
    try {
      new Webhook(secret).verify(body, headers);
    } catch {
      isGood = false;
    }
    const { type, data } = JSON.parse(body) as { type: string; data: { id?: string } };
    if (isGood) told.add(`${type} ${data.id}`);
    else forged.push(`${type} ${data.id}`);
    response.writeHead(isGood ? 204 : 401, { connection: 'close' }).end();
  });
  const port = await listening(server);
  return {
    async open(fleet, tenantId) {
      const url = `http://127.0.0.1:${port}/${tenantId}`;
      const { data, error } = await fleet.admin.post(`/tenants/${tenantId}/webhooks`, { url });
      if (error !== undefined) throw new Error(`no webhook: ${JSON.stringify(error)}`);
      secrets.set(tenantId, String(data.secret));
      return String(data.id);
    },
    told,
    forged,
    close: () => server.close(),
  };
}
