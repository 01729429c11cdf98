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

/** Remembers the value made last, for what is asked twice in a row. For values that depend on their key alone. */
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
