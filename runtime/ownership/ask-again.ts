import { type Clock, sleep } from '../clock.ts';
import { RuntimeFailure } from '../runtime-failure.ts';

/**
 * Repeats a request to Redis until it answers. Resolves with `undefined` if `isOver` becomes true before. Rejects with
 * any error that is not a `RuntimeFailure`.
 */
export async function askAgain<Answer>(
  ask: () => Promise<Answer>,
  condition: { readonly clock: Clock; readonly everyMs: number; readonly isOver: () => boolean },
): Promise<Answer | undefined> {
  while (!condition.isOver()) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      await sleep(condition.clock, condition.everyMs);
    }
  }
  return undefined;
}
