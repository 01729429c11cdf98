import type { Address } from '../../runtime/address.ts';
import type { ActorEventFeed } from '../actor-event-feed.ts';
import type { WebhookEnd, WebhookRecord } from './stored-webhooks/webhook-record.ts';
import type { ShopNotice, TenantEffect } from './tenant-commands.ts';

export interface TenantEffectsOptions {
  readonly feed: Pick<ActorEventFeed, 'publish'>;
  /** Ends the waits for events of a tenant, or of one of its keys. */
  readonly eventWaiters: {
    end(tenantId: string): void;
    endOfKey(tenantId: string, keyId: string): void;
  };
  /** Sends the tenant's events to these endpoints from now on. */
  readonly webhooks: {
    sync(tenantId: string, webhooks: ReadonlyMap<string, WebhookRecord>, loading: symbol): void;
    /** Counts and logs that the service disabled an endpoint. */
    countDisabled(tenantId: string, webhookId: string, reason: WebhookEnd): void;
  };
  /** Brings the operators' list up to the tenant's record; never rejects. */
  readonly refreshDirectory: (tenantId: string) => Promise<void>;
  /** Runs the unfinished erasures of the tenant. */
  readonly erasure: { run(address: Address): Promise<void> };
  readonly notifyShop: (
    shop: { readonly tenantId: string; readonly shopId: string },
    notice: ShopNotice,
  ) => void;
  /** Notifies the search for pool sessions that a platform tenant may have changed. */
  readonly poolMayHaveChanged: (tenantId: string) => void;
}

/** Carries out the effects of a tenant's turns, after their commit succeeded. */
export function tenantEffects(
  options: TenantEffectsOptions,
): (effect: TenantEffect, address: Address) => void {
  const { feed } = options;
  return (effect, address) => {
    const tenantId = address.id;
    switch (effect.type) {
      case 'erase':
        void options.erasure.run(address);
        break;
      case 'end_waits':
        if (effect.keyId === undefined) options.eventWaiters.end(tenantId);
        else options.eventWaiters.endOfKey(tenantId, effect.keyId);
        break;
      case 'webhooks_changed':
        options.webhooks.sync(tenantId, effect.webhooks, effect.loading);
        break;
      case 'webhooks_disabled':
        for (const webhookId of effect.webhookIds) {
          options.webhooks.countDisabled(tenantId, webhookId, effect.reason);
          feed.publish('webhook', { tenantId, webhookId, state: 'disabled', disabledBy: effect.reason });
        }
        break;
      case 'announce_tenant':
        void options.refreshDirectory(tenantId);
        options.poolMayHaveChanged(tenantId);
        feed.publish('tenant', { tenantId });
        break;
      case 'notify_shops':
        for (const shopId of effect.shopIds) options.notifyShop({ tenantId, shopId }, effect.notice);
        break;
      case 'announce_shop':
        feed.publish('shop', { tenantId, shopId: effect.shopId });
        break;
      default:
        // An effect without a case does not compile.
        effect satisfies never;
    }
  };
}
