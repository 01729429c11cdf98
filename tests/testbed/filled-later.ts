/** An object for a file's tests, whose fields come from a `before` hook. */
interface FilledLater<Value extends object> {
  /** Reading a field throws until the object is filled. */
  readonly value: Value;
  /** The object if it is filled. For `after` hooks, which also run if the `before` hook failed. */
  readonly filled: Value | undefined;
  fill(fields: Value): void;
}

/** Makes an empty object. `what` names it in the error of a test that reads it too early. */
export function filledLater<Value extends object>(what: string): FilledLater<Value> {
  let filled: Value | undefined;
  const value = new Proxy({} as Value, {
    get(fields, field) {
      if (filled === undefined)
        throw new Error(`${what} has not started: "${String(field)}" was read too early`);
      return Reflect.get(fields, field);
    },
  });
  return {
    value,
    get filled() {
      return filled;
    },
    fill(fields) {
      Object.assign(value, fields);
      filled = value;
    },
  };
}
