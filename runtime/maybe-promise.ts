/** A value that is at hand, or a promise of it. What answers from memory answers at once: promises cost the hot path. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Goes on with the value, at once when it is at hand. Where it is promised, so is the answer. */
export function mapMaybePromise<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The value of `run`, or of `recover` where it throws or its promise rejects. Throws only what `recover` throws at once. */
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
