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
 * What `next` makes of the value of `run`, or what `recover` makes of what either of them throws or rejects with; one
 * promise for both. Throws only what `recover` throws.
 */
export function mapOrRecover<Value, Next>(
  run: () => MaybePromise<Value>,
  next: (value: Value) => Next,
  recover: (thrown: unknown) => Next,
): MaybePromise<Next> {
  const finish = (value: Value): Next => {
    try {
      return next(value);
    } catch (thrown) {
      return recover(thrown);
    }
  };
  let value: MaybePromise<Value>;
  try {
    value = run();
  } catch (thrown) {
    return recover(thrown);
  }
  return value instanceof Promise ? value.then(finish, recover) : finish(value);
}
