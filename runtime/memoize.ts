/**
 * Makes each value once: what was made of a key is remembered, and all is forgotten when there is `most`. For values
 * that depend on their key alone and are asked for again and again.
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
