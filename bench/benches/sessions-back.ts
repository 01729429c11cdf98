import type { RunningSide } from '../harness/running-side.ts';

const WITHIN_MS = 60_000;

/** Waits until every shop has its session again, so that reopening them is not measured. */
export async function sessionsBack({ look, fleet }: Pick<RunningSide, 'look' | 'fleet'>): Promise<void> {
  const untilMs = performance.now() + WITHIN_MS;
  for (;;) {
    const { connectedAtMs } = await look();
    if (connectedAtMs.length >= fleet.shops.length) return;
    if (performance.now() > untilMs) throw new Error(`only ${connectedAtMs.length} sessions came back`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
