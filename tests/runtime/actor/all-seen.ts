import type { ActorSummary, Actors } from '../../../runtime/actors.ts';

/** Returns the summaries of all actors. */
export async function allSeen(actors: Pick<Actors, 'each'>): Promise<ActorSummary[]> {
  const seenSummaries: ActorSummary[] = [];
  await actors.each((summary) => void seenSummaries.push(summary));
  return seenSummaries;
}
