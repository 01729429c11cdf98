import type { ActorIndex } from '../../runtime/actors.ts';

/** Everything that an index shows. */
export async function allSeen<Seen>(index: ActorIndex<Seen>): Promise<Seen[]> {
  const seen: Seen[] = [];
  await index.each((each) => void seen.push(each));
  return seen;
}
