import type { Clock } from './clock.ts';

/**
 * Remembers the value made for each key; when there are `most`, all are dropped. For values that depend on their key
 * alone.
 */
export function memoize<Key, Value>(most: number, make: (key: Key) => Value): (key: Key) => Value {
  const remembered = new Map<Key, Value>();
  return (key) => {
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    if (remembered.size >= most) remembered.clear();
    remembered.set(key, made);
    return made;
  };
}

/** Like `memoize`, for pairs of keys; `most` counts all pairs. */
export function memoizePairs<First, Second, Value>(
  most: number,
  make: (first: First, second: Second) => Value,
): (first: First, second: Second) => Value {
  const remembered = new Map<First, Map<Second, Value>>();
  let count = 0;
  return (first, second) => {
    const known = remembered.get(first)?.get(second);
    if (known !== undefined) return known;
    const made = make(first, second);
    if (count >= most) {
      remembered.clear();
      count = 0;
    }
    const ofFirst = remembered.get(first) ?? new Map<Second, Value>();
    remembered.set(first, ofFirst.set(second, made));
    count += 1;
    return made;
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
    const found = find();
    answer = found;
    found.then(
      () => {
        servesUntilMs = clock.monotonicMs() + keptMs;
      },
      () => {
        answer = undefined;
      },
    );
    return found;
  };
}
