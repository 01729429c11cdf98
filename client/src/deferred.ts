/** A promise with the ways to settle it beside it; Node 20 has no `Promise.withResolvers`. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** Makes one that is not settled. */
export function deferred<Value>(): Deferred<Value> {
  // The promise calls this function before it is there itself.
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
}
