import type { Lookout } from '../../runtime/actors.ts';

/** Everything that a lookout shows. */
export async function allSeen<Seen>(lookout: Lookout<Seen>): Promise<Seen[]> {
  const seen: Seen[] = [];
  await lookout.each((each) => void seen.push(each));
  return seen;
}
