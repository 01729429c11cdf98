import type { ActorEventFeed } from '../actors/actor-event-feed.ts';
import { readChannelStatuses } from '../actors/shops/operations/channel-view.ts';
import type { PoolSessions } from '../actors/shops/pool-link/pool-sessions.ts';
import { shopAddress } from '../actors/shops/records/shop-keys.ts';
import { tenantService } from '../actors/tenants/operations/tenant-service.ts';
import { UsageStorer } from '../actors/tenants/operations/usage-storer.ts';
import type { EventWaiters } from '../actors/tenants/stored-events/event-waiters.ts';
import { type TenantEffectsOptions, tenantEffects } from '../actors/tenants/tenant-effects.ts';
import type { TenantOperations } from '../actors/tenants/tenant-operations.ts';
import { tenantBehaviour } from '../actors/tenants/turns/tenant-behaviour.ts';
import { KeyLimits } from '../policy/limits/key-limits.ts';
import type { Clock } from '../runtime/clock.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import type { Webhooks } from './compose-webhooks.ts';

interface TenantsOptions extends Pick<TenantEffectsOptions, 'erasure' | 'refreshDirectory'> {
  readonly node: RuntimeNode;
  readonly clock: Clock;
  readonly makeId: (nowMs: number) => string;
  readonly feed: ActorEventFeed;
  readonly eventWaiters: EventWaiters;
  readonly webhooks: Webhooks;
  readonly poolSessions: PoolSessions;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
}

/** The tenants of a node. */
interface ComposedTenants {
  readonly service: TenantOperations;
  /** Stores no more usage. */
  stop(): void;
}

/** Registers the behaviour of tenants with a node that does not run yet, and wires what they act on. */
export function composeTenants(options: TenantsOptions): ComposedTenants {
  const { node, clock, makeId, feed, eventWaiters, webhooks, poolSessions, retentionMs } = options;
  const { erasure, refreshDirectory } = options;
  const { actors, store } = node;
  const keyLimits = new KeyLimits();
  const usage = new UsageStorer({ actors, clock, keyLimits });
  const perform = tenantEffects({
    feed,
    eventWaiters,
    webhooks: webhooks.pump,
    erasure,
    refreshDirectory,
    notifyShop: (shop, notice) => actors.tell(shopAddress(shop), notice),
    poolMayHaveChanged: (tenantId) => poolSessions.tenantChanged(tenantId),
  });
  node.register(
    tenantBehaviour({
      keyLimits,
      makeId,
      retentionMs,
      perform,
      leave({ id }, reason) {
        webhooks.pump.stop(id);
        // Its events no longer reach this node. If it was drained, calls that came since end too.
        if (reason === 'lost' || reason === 'released') eventWaiters.end(id);
      },
      reseal: webhooks.reseal,
    }),
  );
  const service = tenantService({
    actors,
    store,
    clock,
    keyLimits,
    usage,
    channelStatuses: (tenantId, shopIds) => readChannelStatuses(store, tenantId, shopIds),
  });
  return { service, stop: () => usage.stop() };
}
