/** A value at hand, or a promise of it (docs/decisions/012-value-or-promise.md). */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Applies `next` to the value: at once when it is at hand, else when its promise resolves. */
export function mapMaybePromise<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
