import type { ActorIndex } from '../../../runtime/actors.ts';
import type { ShopSummary, Standing } from './shop-summary.ts';

/** How the actors of a node stand, counted. */
export interface ShopCensus {
  readonly shops: number;
  /** Messages that wait for their turn. */
  readonly queued: number;
  /** Commands that wait in the mailboxes of all actors, tenants' included. */
  readonly mailboxDepth: number;
  /** Shops by each of the words that say how they stand; a shop has several. */
  readonly states: Readonly<Record<string, number>>;
  /** Ids of tenants that wait for an operator, the first ones of many. */
  readonly suspendedTenants: readonly string[];
}

/** What operators keep of a tenant's actor. */
export interface TenantSummary extends Pick<ShopSummary, 'mailboxDepth'> {
  readonly tenantId: string;
  readonly isSuspended: boolean;
}

/** What operators keep of an actor. */
export type SeenActor = ShopSummary | TenantSummary;

/** More are found one after the other, as the first ones are resumed. */
const NAMED_TENANTS = 20;

/** Counts them all. */
export async function takeCensus(index: ActorIndex<SeenActor>): Promise<ShopCensus> {
  const byStanding = new Map<Standing, number>();
  let shops = 0;
  let queued = 0;
  let mailboxDepth = 0;
  const suspendedTenants: string[] = [];
  await index.each((actor) => {
    mailboxDepth += actor.mailboxDepth;
    if (!('standing' in actor)) {
      if (actor.isSuspended && suspendedTenants.length < NAMED_TENANTS) suspendedTenants.push(actor.tenantId);
      return;
    }
    shops += 1;
    queued += actor.queued;
    byStanding.set(actor.standing, (byStanding.get(actor.standing) ?? 0) + 1);
  });
  const states: Record<string, number> = {};
  for (const [{ words }, count] of byStanding) {
    for (const word of words) states[word] = (states[word] ?? 0) + count;
  }
  return { shops, queued, mailboxDepth, states, suspendedTenants };
}
