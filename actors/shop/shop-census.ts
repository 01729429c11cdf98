import type { ActorGlance } from '../../runtime/actors.ts';
import { inSlices } from '../../runtime/in-slices.ts';
import { shopGlance } from './shop-glance.ts';

/** How the shops of a node stand, counted. */
export interface ShopCensus {
  readonly shops: number;
  /** Messages that wait for their turn. */
  readonly queued: number;
  /** Commands that wait in the mailboxes of all actors, tenants' included. */
  readonly mailboxDepth: number;
  /** Shops by each of the words that say how they stand; a shop has several. */
  readonly states: Readonly<Record<string, number>>;
}

/** Counts, a few shops at a time: nobody who sends should feel it. */
export async function takeCensus(glances: Iterable<ActorGlance>): Promise<ShopCensus> {
  const states: Record<string, number> = {};
  let shops = 0;
  let queued = 0;
  let mailboxDepth = 0;
  await inSlices(glances, (glance) => {
    mailboxDepth += glance.mailboxDepth;
    if (glance.address.kind !== 'shop') return;
    const shop = shopGlance(glance);
    shops += 1;
    queued += shop.queued;
    for (const word of shop.words) states[word] = (states[word] ?? 0) + 1;
  });
  return { shops, queued, mailboxDepth, states };
}
