import type { ActorSummary } from '../../../runtime/actors.ts';
import { publicChannelStatus } from '../machines/channel-machine.ts';
import { channelState, pacingState, type ShopState } from '../record/shop-state.ts';

/** How a shop stands, in the few figures that thousands of shops are sorted, filtered and counted by. */
export interface ShopSummary {
  /** `tenantId/shopId`. */
  readonly id: string;
  /** Id, name and number in lower case, to be searched. Name and number are missing while nothing of the shop is in memory. */
  readonly searchText: string;
  readonly mailboxDepth: number;
  /** How long the oldest command has waited. */
  readonly oldestQueuedMs: number;
  readonly restarts: number;
  /** Messages that wait for their turn. */
  readonly queued: number;
  /** When the oldest of them was accepted; undefined without any. */
  readonly oldestMessageMs: number | undefined;
  readonly standing: Standing;
}

/** How a shop stands in words. Shops that stand alike share it. */
export interface Standing {
  /**
   * Every word by which an operator may look for the shop, none twice: the channel's state in the contract's word and
   * in the machine's own, the pacing state, the actor's status, `held` by an operator's hand, `flagged` by a lost session, `cold_paused` while the network
   * bars it from strangers.
   */
  readonly words: readonly string[];
  /** How much it asks for an operator's eye; 0: not at all. */
  readonly trouble: number;
}

/** Looks at a shop's actor in passing. */
export function shopSummary({ address, status, state, ...actor }: ActorSummary): ShopSummary {
  const { mailboxDepth, oldestQueuedMs, restarts } = actor;
  const shop = state as ShopState | undefined;
  const phone = shop?.channel.context.phone ?? '';
  return {
    id: address.id,
    searchText: `${address.id} ${shop?.name ?? ''} +${phone}`.toLowerCase(),
    mailboxDepth,
    oldestQueuedMs,
    restarts,
    queued: shop?.queue.length ?? 0,
    oldestMessageMs: shop?.queue[0]?.createdAtMs,
    standing: standingOf(shop === undefined ? [status] : wordsOf(shop, status)),
  };
}

function wordsOf(shop: ShopState, status: string): string[] {
  const channel = channelState(shop);
  const told = publicChannelStatus(channel);
  const words = [told, status, pacingState(shop)];
  if (channel !== told) words.push(channel);
  if (shop.pacing.context.heldByOperator) words.push('held');
  if (shop.channel.context.flagged) words.push('flagged');
  if (shop.pacing.context.coldPausedUntilMs != null) words.push('cold_paused');
  return words;
}

/** Which words ask for an operator's eye, and how loudly. */
const TROUBLE: { readonly [word: string]: number } = {
  suspended: 128,
  backoff: 64,
  flagged: 32,
  cold_paused: 16,
  paused: 8,
  held: 4,
  reconnecting: 2,
  qr_waiting: 1,
};

/** The words of a standing that ask for an operator's eye, the loudest first. */
export const TROUBLE_WORDS: readonly string[] = Object.keys(TROUBLE);

/** As many as the states of a shop combine to: some hundreds. */
const standings = new Map<string, Standing>();

/** The standing with these words. */
export function standingOf(words: readonly string[]): Standing {
  const text = words.join();
  let standing = standings.get(text);
  if (standing === undefined) {
    standing = { words, trouble: words.reduce((trouble, word) => trouble + (TROUBLE[word] ?? 0), 0) };
    standings.set(text, standing);
  }
  return standing;
}
