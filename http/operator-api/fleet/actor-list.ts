import * as v from 'valibot';
import type { NodeOperations } from '../../../actors/operators/operator-operations.ts';
import type { ShopActorView } from '../../../actors/shops/inspection/shop-inspection.ts';
import type { ShopSummary } from '../../../actors/shops/inspection/shop-summary.ts';
import { eachYielding } from '../../../runtime/yielder.ts';
import { askAllNodes, type OtherNodes } from '../../owner/ask-all-nodes.ts';
import type { ActorsQuery } from '../../owner/forwarded-form.ts';

interface ActorPlace {
  readonly rank: number;
  readonly id: string;
}

/** An actor's snapshot with its position in the requested order. */
export interface RankedActor extends ActorPlace {
  readonly actor: ShopActorView;
}

type OwnShops = Pick<NodeOperations, 'eachShop' | 'localShop'>;

/**
 * Returns this node's actors that match, best rank first, at most `limit`. A summary ranks all of them; only the best
 * are described.
 */
export async function localActors(ownNode: OwnShops, query: ActorsQuery): Promise<readonly RankedActor[]> {
  const describedActors: RankedActor[] = [];
  await eachYielding(await bestPlaces(ownNode, query), (place) => {
    const actor = ownNode.localShop(place.id);
    if (actor !== undefined) describedActors.push({ ...place, actor });
  });
  return describedActors;
}

export interface ListedActors {
  readonly actors: readonly RankedActor[];
  /** Nodes that did not answer: their actors are missing. */
  readonly silentNodes: readonly string[];
}

/** The actors of a node. Another build may describe an actor with other fields, which are passed on unchanged. */
const rankedActors = v.array(
  v.object({ rank: v.number(), id: v.string(), actor: v.custom<ShopActorView>(isActor) }),
);

function isActor(value: unknown): boolean {
  return v.is(v.looseObject({ tenantId: v.string(), shopId: v.string() }), value);
}

/**
 * Returns the list of all nodes, at most `limit`. It names each node that does not answer, because operators need the
 * other nodes most then.
 */
export async function allActors(
  ownNode: OwnShops,
  nodes: OtherNodes,
  query: ActorsQuery,
): Promise<ListedActors> {
  const { own, others, silentNodes } = await askAllNodes<readonly RankedActor[]>(nodes, {
    request: { kind: 'actors', query },
    schema: rankedActors,
    own: () => localActors(ownNode, query),
  });
  const allPlaces = [...own, ...others.flatMap(({ answer }) => answer)];
  return { actors: allPlaces.sort(inOrder).slice(0, query.limit), silentNodes };
}

/** Sorts now and then, and not only at the end. Actors that cannot be among the best are then skipped at once. */
async function bestPlaces(ownNode: OwnShops, query: ActorsQuery): Promise<readonly ActorPlace[]> {
  const { sort, state, limit, after } = query;
  const part = query.q?.toLowerCase() ?? '';
  // Id, name and number are on lines of their own, and a match lies within one of them.
  const texts = [...new Set([part, withoutSigns(part)])].filter((text) => !text.includes('\n'));
  let bestPlaces: ActorPlace[] = [];
  let lastPlace: ActorPlace | undefined;
  const keepBest = (): void => {
    bestPlaces = bestPlaces.sort(inOrder).slice(0, limit);
    lastPlace = bestPlaces[limit - 1];
  };
  await ownNode.eachShop((shop) => {
    const rank = rankOf(shop, sort);
    if (lastPlace !== undefined && comesAfter(lastPlace, rank, shop.id)) return;
    if (after !== undefined && !comesAfter(after, rank, shop.id)) return;
    if (state !== undefined && !shop.status.words.includes(state)) return;
    if (!texts.some((text) => shop.searchText.includes(text))) return;
    bestPlaces.push({ rank, id: shop.id });
    if (bestPlaces.length >= limit * 4) keepBest();
  });
  keepBest();
  return bestPlaces;
}

/** Text that may be a phone number, or the beginning or another part of one, as people write it. */
const WRITTEN_NUMBER = /^[+(]?\d[\d\s()./-]*$/;

/** Returns a written phone number in the form of shops: no signs between digits, `+` for 00. Other text stays. */
function withoutSigns(text: string): string {
  if (!WRITTEN_NUMBER.test(text)) return text;
  // A zero in brackets is dialled only within the country.
  const number = text
    .replace('(0)', '')
    .replaceAll(/[^\d+]/g, '')
    .replace(/^00(?=\d)/, '+');
  // Every shop contains an empty number.
  return number === '' ? text : number;
}

/** Compares two actors: higher ranks come first, and ids break ties. */
function inOrder(left: ActorPlace, right: ActorPlace): number {
  return Number(comesAfter(right, left.rank, left.id)) - Number(comesAfter(left, right.rank, right.id));
}

/**
 * True if a position with this rank and id comes after another. It avoids an object for each of thousands of actors.
 */
function comesAfter(place: ActorPlace, rank: number, id: string): boolean {
  return rank === place.rank ? id > place.id : rank < place.rank;
}

/** A moment after any that a clock shows. The time that remains until then ranks the oldest first. */
const FAR_FUTURE_MS = 1e13;

function rankOf(shop: ShopSummary, sort: ActorsQuery['sort']): number {
  switch (sort) {
    case 'id':
      return 0;
    case 'mailbox':
      return shop.mailboxDepth;
    case 'oldest':
      return Math.round(shop.oldestCommandAgeMs);
    case 'restarts':
      return shop.restarts;
    case 'queue':
      return shop.queued;
    case 'waiting':
      return shop.oldestMessageAtMs === undefined ? 0 : FAR_FUTURE_MS - shop.oldestMessageAtMs;
    case 'trouble':
      return shop.status.trouble;
  }
}
