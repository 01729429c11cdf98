import type { Clock } from './clock.ts';

/**
 * Remembers the value made for each key; when there are `mostValues`, all are dropped. For values that depend on their
 * key alone.
 */
export function memoize<Key, Value>(mostValues: number, make: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>();
  return (key) => {
    const knownValue = values.get(key);
    if (knownValue !== undefined) return knownValue;
    const newValue = make(key);
    if (values.size >= mostValues) values.clear();
    values.set(key, newValue);
    return newValue;
  };
}

/** Like `memoize`, for pairs of keys; `mostValues` counts all pairs. */
export function memoizePairs<First, Second, Value>(
  mostValues: number,
  make: (first: First, second: Second) => Value,
): (first: First, second: Second) => Value {
  const values = new Map<First, Map<Second, Value>>();
  let count = 0;
  return (first, second) => {
    const knownValue = values.get(first)?.get(second);
    if (knownValue !== undefined) return knownValue;
    const newValue = make(first, second);
    if (count >= mostValues) {
      values.clear();
      count = 0;
    }
    const ofFirst = values.get(first) ?? new Map<Second, Value>();
    values.set(first, ofFirst.set(second, newValue));
    count += 1;
    return newValue;
  };
}

/** Remembers the last value, for callers that ask twice in a row. For values that depend on their key alone. */
export function rememberLast<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  let lastKey: Key | undefined;
  let lastValue: Value | undefined;
  let isMade = false;
  return (key) => {
    if (!isMade || key !== lastKey) {
      lastValue = make(key);
      lastKey = key;
      isMade = true;
    }
    return lastValue as Value;
  };
}

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
    const foundValue = find();
    answer = foundValue;
    foundValue.then(
      () => {
        servesUntilMs = clock.monotonicMs() + keptMs;
      },
      () => {
        answer = undefined;
      },
    );
    return foundValue;
  };
}
