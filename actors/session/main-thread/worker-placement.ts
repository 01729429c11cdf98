import type { SessionSlot } from './session-slot.ts';

/** The worker a session goes to: where it was before, or else the one with the fewest sessions; undefined: none is ready. */
export function placeFor(
  slot: SessionSlot,
  slots: Iterable<SessionSlot>,
  ready: readonly number[],
): number | undefined {
  if (slot.worker !== undefined && ready.includes(slot.worker)) return slot.worker;
  const load = new Map<number, number>(ready.map((worker) => [worker, 0]));
  for (const { worker } of slots) {
    if (worker !== undefined && load.has(worker)) load.set(worker, (load.get(worker) ?? 0) + 1);
  }
  const [least] = [...load].sort(([, one], [, other]) => one - other);
  return least?.[0];
}
