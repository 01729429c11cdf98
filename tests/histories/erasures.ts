import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { until } from '../testbed/waiting.ts';

/** Waits until nothing of a tenant is being erased any more. `name`: what the caller has erased. */
export async function untilErased(fleet: Fleet, tenant: string, name: string): Promise<void> {
  await until(
    `the erasure of ${name} is over`,
    async () => (await fleet.admin.get(`/tenants/${tenant}/erasure`)).status === 404,
    { withinMs: 3 * MINUTE_MS, everyMs: 200 },
  );
}
