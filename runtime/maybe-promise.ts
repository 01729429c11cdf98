/** A value that is at hand, or a promise of it. What answers from memory answers at once: promises cost the hot path. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Goes on with the value, at once when it is at hand. Where it is promised, so is the answer. */
export function mapMaybePromise<Value, Next>(
  eventual: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return eventual instanceof Promise ? eventual.then(next) : next(eventual);
}
