import type { RunningSide, SideOptions } from '../harness/running-side.ts';
import { startSide } from '../harness/side.ts';

/** Runs `measure` on a service with a new fleet and always stops it. */
export async function onService(
  options: SideOptions,
  measure: (side: RunningSide) => Promise<void>,
): Promise<void> {
  const side = await startSide('service', options);
  try {
    await measure(side);
  } finally {
    await side.stop();
  }
}
