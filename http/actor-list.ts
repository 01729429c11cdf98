import type { FleetOperations } from '../actors/operator-operations.ts';
import { type ActorsQuery, encodeForwarded } from './forwarding.ts';
import { HOP_TIMEOUT_MS, type Hop } from './hop.ts';
import { inSlices } from './in-slices.ts';
import { shopStates, troubleOf } from './shop-states.ts';

/** An actor's snapshot with its place in the order asked for. */
export interface RankedActor {
  readonly rank: number;
  readonly id: string;
  readonly actor: Record<string, unknown>;
}

/** This node's actors that match, best rank first, at most `limit`. */
export async function localActors(
  fleet: Pick<FleetOperations, 'localActors'>,
  query: ActorsQuery,
): Promise<readonly RankedActor[]> {
  const part = query.q?.toLowerCase();
  let best: RankedActor[] = [];
  const keepBest = (): void => {
    best = best.sort(inOrder).slice(0, query.limit);
  };
  await inSlices(fleet.localActors(), (actor) => {
    if (query.state !== undefined && !shopStates(actor).has(query.state)) return;
    const ranked = { rank: rankOf(actor, query.sort), id: idOf(actor), actor };
    if (part !== undefined && !searchable(actor, ranked.id).includes(part)) return;
    if (query.after !== undefined && inOrder(ranked, query.after) <= 0) return;
    best.push(ranked);
    if (best.length >= query.limit * 4) keepBest();
  });
  keepBest();
  return best;
}

/** The same over all nodes. A node that does not answer is left out: an operator looks most when one is ill. */
export async function allActors(
  fleet: Pick<FleetOperations, 'localActors'>,
  hop: Hop,
  query: ActorsQuery,
): Promise<readonly RankedActor[]> {
  const payload = encodeForwarded({ kind: 'actors', query });
  const [own, ...answers] = await Promise.allSettled([
    localActors(fleet, query),
    ...hop.otherNodes().map((nodeId) => hop.forwardToNode(nodeId, payload, HOP_TIMEOUT_MS)),
  ]);
  if (own.status === 'rejected') throw own.reason;
  const remote = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? (JSON.parse(answer.value) as RankedActor[]) : [],
  );
  return [...own.value, ...remote].sort(inOrder).slice(0, query.limit);
}

/** Higher ranks first, ids break ties. */
function inOrder(one: Pick<RankedActor, 'rank' | 'id'>, other: Pick<RankedActor, 'rank' | 'id'>): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

/** Later than any clock of ours, so that what remains until then ranks the oldest first. */
const FAR_FUTURE_MS = 1e13;

function rankOf(actor: Record<string, unknown>, sort: ActorsQuery['sort']): number {
  const { mailbox, details, restarts } = actor as Ranking;
  switch (sort) {
    case 'id':
      return 0;
    case 'mailbox':
      return mailbox?.depth ?? 0;
    case 'oldest':
      return Math.round(mailbox?.oldestQueuedMs ?? 0);
    case 'restarts':
      return restarts ?? 0;
    case 'queue':
      return details?.queue?.depth ?? 0;
    case 'waiting': {
      const oldest = details?.queue?.waiting?.[0]?.createdAtMs;
      return oldest === undefined ? 0 : FAR_FUTURE_MS - oldest;
    }
    case 'trouble':
      return troubleOf(actor);
  }
}

/** The parts of a snapshot that shops are sorted by. */
interface Ranking {
  readonly mailbox?: { readonly depth?: number; readonly oldestQueuedMs?: number };
  readonly restarts?: number;
  readonly details?: {
    readonly queue?: {
      readonly depth?: number;
      readonly waiting?: readonly { readonly createdAtMs: number }[];
    };
  };
}

function idOf(actor: Record<string, unknown>): string {
  return `${text(actor.tenantId)}/${text(actor.shopId)}`;
}

function searchable(actor: Record<string, unknown>, id: string): string {
  const { details } = actor as { readonly details?: { readonly channel?: { readonly phone?: unknown } } };
  return `${id} ${text(actor.name)} +${text(details?.channel?.phone)}`.toLowerCase();
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
