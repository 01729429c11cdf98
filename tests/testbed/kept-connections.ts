/** The key under which Node keeps the dispatcher of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

interface Dispatcher {
  close(): Promise<void>;
}

/**
 * Closes the connections that `fetch` keeps open, each with the answer it waits for; later calls open new ones. A
 * server of the test's own process would otherwise keep the process until they have been idle for seconds.
 */
export function closeKeptConnections(): void {
  const place = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const dispatcherBefore = place[DISPATCHER];
  if (dispatcherBefore === undefined) return;
  place[DISPATCHER] = new (dispatcherBefore.constructor as new () => Dispatcher)();
  // The close is not awaited: an open stream ends with its server.
  dispatcherBefore.close().catch(() => undefined);
}
