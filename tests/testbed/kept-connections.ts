/** The keys under which Node keeps the dispatcher of `fetch`. Node 26 reads the second, Node 24 has both. */
const DISPATCHERS = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map((key) => Symbol.for(key));

interface Dispatcher {
  close(): Promise<void>;
}

/**
 * Closes the connections that `fetch` keeps open, each with the answer it waits for; later calls open new ones. A
 * server of the test's own process would otherwise keep the process until they have been idle for seconds.
 */
export function closeKeptConnections(): void {
  const place = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const dispatcherBefore = DISPATCHERS.map((key) => place[key]).findLast((each) => each !== undefined);
  if (dispatcherBefore === undefined) return;
  const dispatcher = new (dispatcherBefore.constructor as new () => Dispatcher)();
  for (const key of DISPATCHERS) if (place[key] === dispatcherBefore) place[key] = dispatcher;
  // The close is not awaited: an open stream ends with its server.
  dispatcherBefore.close().catch(() => undefined);
}
