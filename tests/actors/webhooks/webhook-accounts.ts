import assert from 'node:assert/strict';
import type { RealService } from '../../http/real-service.ts';
import type { TestTenant } from '../../http/target.ts';
import { eventually } from '../../testbed/waiting.ts';

/** Tenants of a service that tests register webhooks of. */
export function webhookAccounts(service: () => RealService) {
  /** A tenant with a shop whose queue an operator can pause and resume: two events each time. */
  async function account() {
    const tenant = await service().tenant();
    const shopId = await service().shop(tenant);
    const steer = async (word: 'pause' | 'resume') => {
      const { status, text } = await service().operator('POST', `/actors/${tenant.id}/${shopId}/${word}`, {});
      assert.equal(status, 200, text);
    };
    return { tenant, shopId, steer };
  }

  async function create(tenant: TestTenant, json: object) {
    const createdReply = await service().operator('POST', `/tenants/${tenant.id}/webhooks`, json);
    assert.equal(createdReply.status, 201, createdReply.text);
    const { id, secret } = createdReply.body.data as { id: string; secret: string };
    const call = (method: string, path = '', body?: unknown) =>
      service().operator(method, `/tenants/${tenant.id}/webhooks/${id}${path}`, body);
    return { id, secret, call };
  }

  /** Waits until this number of attempts is recorded: until then a restart would repeat them. */
  function untilRecorded({ call }: Awaited<ReturnType<typeof create>>, count: number): Promise<void> {
    return eventually(async () => (await call('GET', '/attempts')).body.data.items.length === count);
  }

  return { account, create, untilRecorded };
}
