import type { BatchStatus } from '../../batch-status.ts';
import type { ShopStatus, ShopSummary } from './shop-summary.ts';

/** Counts of a node's actors by their states. */
export interface ShopCensus {
  readonly shops: number;
  /** Messages that wait in the queue. */
  readonly queued: number;
  /** Sends that wait for their time. */
  readonly scheduled: number;
  /**
   * When the oldest queued message was accepted, in milliseconds since the epoch. Null if none is queued. A message
   * that waits for its batch does not count.
   */
  readonly oldestMessageMs: number | null;
  /** Batches that have not ended, by state. */
  readonly batches: Readonly<Partial<Record<BatchStatus, number>>>;
  /**
   * The earliest time since which an active batch has processed none of its waiting recipients. Null if no active batch
   * has waiting recipients. It may be in the future.
   */
  readonly batchStandsSinceMs: number | null;
  /** Commands that wait in the mailboxes of all actors, tenants' included. */
  readonly mailboxDepth: number;
  /** Shops by each status word; a shop has several. */
  readonly states: Readonly<Record<string, number>>;
  /** Ids of tenants that wait for an operator, the first ones of many. */
  readonly suspendedTenants: readonly string[];
}

/** The operators' summary of a tenant's actor. */
export interface TenantSummary extends Pick<ShopSummary, 'mailboxDepth'> {
  readonly kind: 'tenant';
  readonly tenantId: string;
  readonly isSuspended: boolean;
}

/** The operators' summary of an actor. */
export type SeenActor = ShopSummary | TenantSummary;

/** Visits each actor of a node (`Actors.each`). */
export type EachActor = (visit: (actor: SeenActor) => void) => Promise<void>;

/** How many suspended tenants a census names. Once these are resumed, the next census names others. */
const NAMED_TENANTS = 20;

/** Counts the actors of a node. */
export async function takeCensus(eachActor: EachActor): Promise<ShopCensus> {
  const byStatus = new Map<ShopStatus, number>();
  let shops = 0;
  let queuedCount = 0;
  let scheduledCount = 0;
  const batches: Partial<Record<BatchStatus, number>> = {};
  let batchStandsSinceMs = Number.POSITIVE_INFINITY;
  let oldestMessageMs = Number.POSITIVE_INFINITY;
  let mailboxDepth = 0;
  const suspendedTenants: string[] = [];
  await eachActor((actor) => {
    mailboxDepth += actor.mailboxDepth;
    if (actor.kind === 'tenant') {
      if (actor.isSuspended && suspendedTenants.length < NAMED_TENANTS) suspendedTenants.push(actor.tenantId);
      return;
    }
    shops += 1;
    queuedCount += actor.queued;
    scheduledCount += actor.scheduled;
    for (const status of actor.batches) batches[status] = (batches[status] ?? 0) + 1;
    batchStandsSinceMs = Math.min(batchStandsSinceMs, actor.batchStandsSinceMs ?? batchStandsSinceMs);
    oldestMessageMs = Math.min(oldestMessageMs, actor.oldestMessageAtMs ?? oldestMessageMs);
    byStatus.set(actor.status, (byStatus.get(actor.status) ?? 0) + 1);
  });
  const states: Record<string, number> = {};
  for (const [{ words }, count] of byStatus) {
    for (const word of words) states[word] = (states[word] ?? 0) + count;
  }
  return {
    shops,
    queued: queuedCount,
    scheduled: scheduledCount,
    batches,
    batchStandsSinceMs: Number.isFinite(batchStandsSinceMs) ? batchStandsSinceMs : null,
    oldestMessageMs: Number.isFinite(oldestMessageMs) ? oldestMessageMs : null,
    mailboxDepth,
    states,
    suspendedTenants,
  };
}
