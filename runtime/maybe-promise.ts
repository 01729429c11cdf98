/** A value at hand, or a promise of it (docs/decisions/012-value-or-promise.md). */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Applies `next` to the value: at once when it is at hand, else when its promise resolves. */
export function mapMaybePromise<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * The value of `run`, or of `recover` where it throws or its promise rejects. Throws only what `recover` throws
 * at once.
 */
export function catchMaybePromise<Value>(
  run: () => MaybePromise<Value>,
  recover: (thrown: unknown) => Value,
): MaybePromise<Value> {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(recover) : value;
  } catch (thrown) {
    return recover(thrown);
  }
}
