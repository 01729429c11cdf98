import type { Clock } from './clock.ts';

/**
 * Spares asking again: whoever asks while an answer is being found shares it, and it serves for `keptMs` after it was
 * found. A failure is told to those who wait and not kept.
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
