import type { NodeOperations, OperatorOperations } from '../../actors/operators/operator-operations.ts';
import type { SuspendedFilter } from '../../actors/operators/resume-suspended.ts';
import type { CursorPage } from '../../actors/reply-schemas/reply-fields.ts';
import type { ShopOperations } from '../../actors/shops/shop-operations.ts';
import type { TenantOperations } from '../../actors/tenants/tenant-operations.ts';
import type { WebhookOperations } from '../../actors/webhooks/webhook-operations.ts';
import type { AuditLog } from '../audit-log/audit-log.ts';
import { operatorEndpoints } from '../contract/declared-endpoint.ts';
import type { ActorsQuery } from '../owner/forwarded-form.ts';
import type { RequestLogEntry } from '../request-log/request-log-entry.ts';
import type { RefusalCount, RequestLogQuery } from '../request-log/request-log-reader.ts';
import type { ListedActors } from './fleet/actor-list.ts';
import type { NodeShare, Overview } from './fleet/fleet-overview.ts';
import type { ResumedEverywhere } from './fleet/resume-everywhere.ts';

/** The operations of a shop that operators may use. A handler that sends does not compile. */
type OperatedShops = Pick<
  ShopOperations,
  | 'connect'
  | 'pollConnection'
  | 'requestPairingCode'
  | 'disconnect'
  | 'listMessages'
  | 'cancelQueue'
  | 'listScheduled'
  | 'unschedule'
  | 'listBatches'
  | 'batch'
  | 'steerBatch'
>;

/** The services that the operators' endpoints call. */
export interface OperatorServices {
  readonly operators: OperatorOperations;
  readonly webhooks: WebhookOperations;
  readonly ownNode: NodeOperations;
  readonly tenants: Pick<TenantOperations, 'listShops'>;
  readonly shops: OperatedShops;
  readonly audit: Pick<AuditLog, 'list'>;
  /** Lists entries of the request log, newest first. */
  requests(query: RequestLogQuery): Promise<CursorPage<RequestLogEntry>>;
  /** Counts a tenant's refused calls of the last quarter of an hour. */
  countRefusals(tenantId: string): Promise<RefusalCount>;
  /** Lists the actors of all nodes, in the requested order. */
  actors(query: ActorsQuery): Promise<ListedActors>;
  /** Returns this node's part of the overview. */
  nodeShare(): Promise<NodeShare>;
  /** Returns the sum of all nodes' parts. */
  overview(): Promise<Overview>;
  /** Resumes the suspended actors that match, on all nodes. */
  resumeAll(filter: SuspendedFilter): Promise<ResumedEverywhere>;
  /** Returns this node's events to another node. */
  eventsSince(cursor: string): string;
}

/** Declares an endpoint of the operators' API. */
export const operatorEndpoint = operatorEndpoints<OperatorServices>();
