import type { Clock } from './clock.ts';

/**
 * Caches one answer for `keptMs` after it was found. Callers that come while it is being found share it. A failure
 * rejects for all of them and is not kept.
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
