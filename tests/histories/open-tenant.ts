import { makeAccount } from '../e2e/stack/account.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import type { Endpoint } from './endpoints.ts';
import type { History } from './history.ts';
import { patientApi } from './patient-api.ts';
import type { Tenant } from './shop.ts';

/** A new tenant, the id of its webhook, and its key. */
export interface OpenedTenant {
  readonly tenant: Tenant;
  readonly webhook: string;
  readonly apiKey: string;
}

/** Returns what makes tenants that get inbound messages, each with a webhook. */
export function tenantOpener(
  fleet: Fleet,
  endpoint: Endpoint,
  history: History,
  seed: number,
): () => Promise<OpenedTenant> {
  let [numbers, tenants] = [0, 0];
  const next = (): number => {
    numbers += 1;
    return numbers;
  };
  return async () => {
    const place = tenants;
    tenants += 1;
    const { tenantId, apiKey } = await makeAccount(fleet.admin, `Tenant ${place}`);
    await fleet.admin.patch(`/tenants/${tenantId}`, { inbound: 'texts' });
    const webhook = await endpoint.open(fleet, tenantId);
    const tenant: Tenant = {
      id: tenantId,
      api: patientApi(fleet.api(apiKey)),
      fleet,
      history,
      random: seededRandom(seed * 31 + place),
      oneAtATime: inOrder(),
      nextPhone: () => `+3366${String(next()).padStart(7, '0')}`,
      nextName: () => `n${next()}`,
    };
    return { tenant, webhook, apiKey };
  };
}

/** Runs one work after the other. */
function inOrder(): Tenant['oneAtATime'] {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const own = last.then(work);
    last = own.catch(() => undefined);
    return own;
  };
}
