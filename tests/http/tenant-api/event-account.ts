import { eventWrites, type TenantEvent } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { EVENT_LIMITS } from '../../testbed/event-limits.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import type { Target, TestTenant } from '../target.ts';

/** A tenant whose events a test stores. */
export interface EventAccount {
  readonly owner: TestTenant;
  /** Ids of its shops, named One and Two. */
  readonly shops: readonly [string, string];
  /** Stores this number of events of the first shop and notifies waiting calls. Their phones are numbered from 0. */
  store(count: number, fields?: Partial<TenantEvent>): Promise<void>;
  /** How many calls of the tenant were counted before this one. */
  counted(): Promise<number>;
}

/** Makes the tenant. */
export async function eventAccount(service: ServiceFixture, target: Target): Promise<EventAccount> {
  const owner = await target.tenant({ plan: 'scale' });
  const shops = [await target.shop(owner, 'One'), await target.shop(owner, 'Two')] as const;
  let told = 0;
  return {
    owner,
    shops,
    async store(count, fields = {}) {
      const events = Array.from({ length: count }, () => ({
        type: 'recipient.opted_out' as const,
        shopId: shops[0],
        subject: JSON.stringify({ phone: `+${told++}` }),
        ...fields,
      }));
      const writes = eventWrites(owner.id, events, { nowMs: Date.now(), limits: EVENT_LIMITS });
      // Nothing is too old here, and only a commit can trim.
      await service.store.append(writes.filter(([command]) => command === 'XADD'));
      service.eventWaiters.publish(owner.id);
    },
    async counted() {
      const { key } = await target.key(owner.id);
      const { quota } = (await target.api.call('GET', '/me', { key })).body.data;
      return quota.apiCalls.used - 1;
    },
  };
}
