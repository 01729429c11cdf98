import { Agent } from 'node:http';
import { send } from '../openapi/checked-client.ts';
import { ADMIN_TOKEN, type ServiceFixture } from '../service-fixture.ts';

/** Returns a service's metrics in Prometheus' format. */
export async function metricsOf(service: ServiceFixture): Promise<string> {
  const agent = new Agent();
  const reply = await send(agent, 'GET', `${service.adminUrl}/metrics`, { key: ADMIN_TOKEN });
  agent.destroy();
  return reply.text;
}
