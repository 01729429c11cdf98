import type { Clock } from './clock.ts';

/**
 * Caches one result for `keptMs` after it was computed. Callers that arrive during the computation share it. A failure
 * rejects for all of them and is not cached.
 */
export function cachedFor<Value>(
  find: () => Promise<Value>,
  { clock, keptMs }: { readonly clock: Clock; readonly keptMs: number },
): () => Promise<Value> {
  let answer: Promise<Value> | undefined;
  let servesUntilMs = Number.POSITIVE_INFINITY;
  return () => {
    if (answer !== undefined && clock.monotonicMs() < servesUntilMs) return answer;
    servesUntilMs = Number.POSITIVE_INFINITY;
    const asked = find();
    answer = asked;
    asked.then(
      () => {
        servesUntilMs = clock.monotonicMs() + keptMs;
      },
      () => {
        answer = undefined;
      },
    );
    return asked;
  };
}
