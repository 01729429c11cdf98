/** The keys under which Node keeps the dispatcher of `fetch`: the first since Node 26, the second before. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.2'), Symbol.for('undici.globalDispatcher.1')];

interface Dispatcher {
  close(): Promise<void>;
}

/**
 * Closes the connections that `fetch` keeps open, each with the answer it waits for; later calls open new ones. A
 * server of the test's own process would otherwise keep the process until they have been idle for seconds.
 */
export function closeKeptConnections(): void {
  const place = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const key = DISPATCHERS.find((each) => place[each] !== undefined);
  const dispatcherBefore = key && place[key];
  if (key === undefined || dispatcherBefore === undefined) return;
  place[key] = new (dispatcherBefore.constructor as new () => Dispatcher)();
  // The close is not awaited: an open stream ends with its server.
  dispatcherBefore.close().catch(() => undefined);
}
