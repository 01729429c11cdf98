/** A value, or a promise of it (docs/decisions/012-value-or-promise.md). */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Applies `next` to the value: at once if it is no promise, otherwise when the promise resolves. */
export function mapMaybePromise<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
