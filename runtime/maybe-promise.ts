/** A value, or a promise of it (docs/decisions/012-value-or-promise.md). */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Applies `next` to the value: at once if it is no promise, otherwise when the promise resolves. */
export function mapMaybePromise<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Asks for a value: `next` gets it, now or later, and `failed` gets what is thrown instead of it. What those two throw
 * is the caller's.
 */
export function settleMaybePromise<Value, Next>(
  ask: () => MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
  failed: (thrown: unknown) => Next,
): MaybePromise<Next> {
  let value: MaybePromise<Value>;
  try {
    value = ask();
  } catch (thrown) {
    return failed(thrown);
  }
  return value instanceof Promise ? value.then(next, failed) : next(value);
}
