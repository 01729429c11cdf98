import type { EventOperations } from '../actors/events/event-operations.ts';
import type { NodeOperations, OperatorOperations } from '../actors/operators/operator-operations.ts';
import type { FileBounds } from '../actors/outbound/file-download.ts';
import type { InboundOperations } from '../actors/shops/inbound-operations.ts';
import type { ShopOperations } from '../actors/shops/shop-operations.ts';
import type { KeyIndex } from '../actors/tenants/key-index.ts';
import type { TenantOperations } from '../actors/tenants/tenant-operations.ts';
import type { WebhookOperations } from '../actors/webhooks/webhook-operations.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { Store } from '../runtime/store.ts';
import type { Tracing } from '../runtime/tracing.ts';
import type { ArticleSettings } from './articles/article-library.ts';
import type { AuditLog } from './audit-log/audit-log.ts';
import type { OperatorToken } from './contract/operator-role.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { OperatorEventFeed } from './operator-events/operator-event.ts';
import type { Forwarder } from './owner/forwarder.ts';
import type { RequestLog } from './request-log/request-log.ts';

/** The settings of the two listeners. */
export interface HttpSettings extends ArticleSettings {
  readonly host: string;
  /** 0: the system's choice. */
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The operators' tokens, with a name and a role each. */
  readonly operatorTokens: readonly OperatorToken[];
  /** Addresses or CIDR ranges of proxies whose X-Forwarded-For is used. */
  readonly trustedProxies: readonly string[];
  /** Public address of the API. By default, the listener's own address. */
  readonly publicUrl: string | undefined;
  /** The address where a shop is completed, with `{PUBLIC_URL}` and `{shopId}` in it. */
  readonly setupUrlTemplate: string;
}

/** Services of this node's actors, for the endpoints. */
export interface HttpActors {
  readonly tenants: TenantOperations;
  readonly shops: ShopOperations;
  readonly inbound: InboundOperations;
  readonly events: EventOperations;
  readonly operators: OperatorOperations;
  readonly webhooks: WebhookOperations;
  readonly ownNode: NodeOperations;
  readonly keys: Pick<KeyIndex, 'tenantOfKey'>;
  readonly feed: OperatorEventFeed;
}

export interface HttpOptions extends HttpActors {
  readonly settings: HttpSettings;
  /** Version of the build, for /healthz. */
  readonly version: string;
  readonly forwarder: Forwarder;
  readonly store: Pick<Store, 'read' | 'append'>;
  /** Limits of requests to the network's file hosts. */
  readonly files: FileBounds;
  readonly requestLog: RequestLog;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Makes spans of the tenants' requests. If absent, nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly health: { isReady(): boolean | Promise<boolean> };
  /** True while too many turns are under way, or a commit takes too long. */
  readonly isBusy: () => boolean;
  /** Most calls in progress of a listener before it answers OVERLOADED. Calls that wait for events do not count. */
  readonly mostInProgress?: number;
}
