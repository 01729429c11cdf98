import type { FleetOperations } from '../actors/operator-operations.ts';
import { type ActorsQuery, encodeForwarded } from './forwarding.ts';
import { HOP_TIMEOUT_MS, type Hop } from './hop.ts';

/** An actor's snapshot with its place in the order asked for. */
export interface RankedActor {
  readonly rank: number;
  readonly id: string;
  readonly actor: Record<string, unknown>;
}

/** This node's actors that match, best rank first, at most `limit`. */
export function localActors(
  fleet: Pick<FleetOperations, 'localActors'>,
  query: ActorsQuery,
): readonly RankedActor[] {
  const matching: RankedActor[] = [];
  const part = query.q?.toLowerCase();
  for (const actor of fleet.localActors()) {
    if (query.state !== undefined && actor.state !== query.state && actor.status !== query.state) continue;
    const ranked = { rank: rankOf(actor, query.sort), id: idOf(actor), actor };
    if (part !== undefined && !searchable(actor, ranked.id).includes(part)) continue;
    if (query.after !== undefined && inOrder(ranked, query.after) <= 0) continue;
    matching.push(ranked);
  }
  return matching.sort(inOrder).slice(0, query.limit);
}

/** The same over all nodes. A node that does not answer is left out: an operator looks most when one is ill. */
export async function allActors(
  fleet: Pick<FleetOperations, 'localActors'>,
  hop: Hop,
  query: ActorsQuery,
): Promise<readonly RankedActor[]> {
  const payload = encodeForwarded({ kind: 'actors', query });
  const answers = await Promise.allSettled(
    hop.otherNodes().map((nodeId) => hop.forwardToNode(nodeId, payload, HOP_TIMEOUT_MS)),
  );
  const remote = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? (JSON.parse(answer.value) as RankedActor[]) : [],
  );
  return [...localActors(fleet, query), ...remote].sort(inOrder).slice(0, query.limit);
}

/** Higher ranks first, ids break ties. */
function inOrder(one: Pick<RankedActor, 'rank' | 'id'>, other: Pick<RankedActor, 'rank' | 'id'>): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

function rankOf(actor: Record<string, unknown>, sort: ActorsQuery['sort']): number {
  if (sort === 'id') return 0;
  const mailbox = actor.mailbox as { readonly depth?: number; readonly oldestQueuedMs?: number } | undefined;
  const rank =
    sort === 'mailbox' ? mailbox?.depth : sort === 'oldest' ? mailbox?.oldestQueuedMs : actor.restarts;
  return typeof rank === 'number' ? rank : 0;
}

function idOf(actor: Record<string, unknown>): string {
  return `${text(actor.tenantId)}/${text(actor.shopId)}`;
}

function searchable(actor: Record<string, unknown>, id: string): string {
  return `${id} ${text(actor.name)} ${text(actor.phone)}`.toLowerCase();
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
