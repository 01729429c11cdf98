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
  let last: { readonly key: Key; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}
