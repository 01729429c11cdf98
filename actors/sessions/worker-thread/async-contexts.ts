import { AsyncLocalStorage } from 'node:async_hooks';

/** A storage's value, until the work that it was given for has ended. */
interface Context {
  value: unknown;
}

type Contexts = ReadonlyMap<AsyncLocalStorage<unknown>, Context>;

/**
 * Keeps all asynchronous contexts of this thread in a single `AsyncLocalStorage`.
 *
 * The client makes an `AsyncLocalStorage` for each socket, and Node 20 and 22 never forget one that was used. From then
 * on every promise of the thread copies a value for each of them, also for sockets that ended long ago. With a hundred
 * sessions that was most of a worker's CPU time at rest, and it grew with each reconnection. At three hundred sessions
 * the worker did nothing else for seconds. Here each context is an entry of a map in one storage. A promise copies one
 * value, and the entry of an ended socket is collected.
 *
 * A value also ends with the promise of the work that `run` gave it to. The client finds the transaction over its keys
 * in its context. It sends a contact its token in work that outlives the transaction of the send. That work then stored
 * into a transaction that was already written, so each message of a known chat sent the token again.
 *
 * Call it once in a thread, before the first client is made. It changes `run`, `enterWith` and `getStore` of the class.
 */
export function shareAsyncContexts(): void {
  // Node 24 calls `getStore` and `enterWith` from within `run`, and the shared storage needs those of Node.
  const { run, enterWith, getStore } = AsyncLocalStorage.prototype;
  const sharedStorage: AsyncLocalStorage<Contexts> = Object.assign(new AsyncLocalStorage(), {
    run,
    enterWith,
    getStore,
  });
  const contexts = (): Contexts | undefined => sharedStorage.getStore();
  const withOne = (storage: AsyncLocalStorage<unknown>, context: Context): Contexts =>
    new Map(contexts()).set(storage, context);
  Object.assign(AsyncLocalStorage.prototype, {
    getStore(this: AsyncLocalStorage<unknown>): unknown {
      return contexts()?.get(this)?.value;
    },
    run(
      this: AsyncLocalStorage<unknown>,
      value: unknown,
      work: (...args: unknown[]) => unknown,
      ...args: unknown[]
    ) {
      const context: Context = { value };
      const result = sharedStorage.run(withOne(this, context), work, ...args);
      const end = (): void => {
        context.value = undefined;
      };
      if (result instanceof Promise) result.then(end, end);
      return result;
    },
    enterWith(this: AsyncLocalStorage<unknown>, value: unknown): void {
      sharedStorage.enterWith(withOne(this, { value }));
    },
  });
}
