import type { EventOperations } from '../../actors/events/event-operations.ts';
import type { InboundOperations } from '../../actors/shops/inbound-operations.ts';
import type { ShopOperations } from '../../actors/shops/shop-operations.ts';
import type { TenantOperations } from '../../actors/tenants/tenant-operations.ts';
import type { WebhookOperations } from '../../actors/webhooks/webhook-operations.ts';
import type { ArticleLibrary } from '../articles/article-library.ts';
import { apiEndpoints } from '../contract/declared-endpoint.ts';

/** The services that the tenants' endpoints call, on the node that owns the tenant. */
export interface ApiServices {
  readonly tenants: TenantOperations;
  readonly shops: ShopOperations;
  readonly inbound: InboundOperations;
  readonly events: EventOperations;
  readonly webhooks: WebhookOperations;
  readonly articles: ArticleLibrary;
  /** Returns the address that opens a shop's edit form. */
  setupUrl(shopId: string): string;
}

/** Declares an endpoint of the tenants' API. */
export const apiEndpoint = apiEndpoints<ApiServices>();
