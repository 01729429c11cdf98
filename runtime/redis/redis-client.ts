import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../redis-address.ts';

/** Either kind of ioredis client; both send commands the same way. */
export type RedisClient = Redis | Cluster;

type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * Makes a client that sends a command at once or fails at once. The library never sends one twice: no offline queue, no
 * resending after a reconnect, no autopipelining (docs/decisions/001-effects-follow-the-commit.md, Decision). A
 * connection that leaves a command unanswered for `answerMs` is destroyed, so every command settles.
 */
export function redisClient(
  address: RedisAddress,
  options: { readonly name: string; readonly answerMs: number },
): RedisClient {
  const sharedOptions = clientOptions(address, options);
  if (address.kind === 'single')
    return new Redis({ ...sharedOptions, enableOfflineQueue: false, retryStrategy: redisRetryDelayMs });
  return new Cluster([...address.nodes], {
    redisOptions: sharedOptions,
    lazyConnect: true,
    enableOfflineQueue: false,
    // The library sends nothing a second time when a master fails; MOVED and ASK are still followed.
    retryDelayOnFailover: 0,
    slotsRefreshTimeout: options.answerMs,
    clusterRetryStrategy: redisRetryDelayMs,
  });
}

/** Makes a client of one server, which connects once: for subscriptions. `server`: which of `serversOf`. */
export function subscriberClient(
  address: RedisAddress,
  { server, answerMs }: { readonly server: number; readonly answerMs: number },
): Redis {
  return new Redis({
    ...clientOptions(address, { name: 'bus', answerMs }),
    ...serversOf(address)[server],
    enableOfflineQueue: false,
    retryStrategy: null,
  });
}

/** Returns the servers to which a client can connect, one after the other. */
export function serversOf(address: RedisAddress): readonly ClientOptions[] {
  return address.kind === 'single' ? [address.options as ClientOptions] : address.nodes;
}

function clientOptions(
  address: RedisAddress,
  { name, answerMs }: { readonly name: string; readonly answerMs: number },
): ClientOptions {
  return {
    ...(address.options as ClientOptions),
    protocol: 2,
    connectionName: name,
    lazyConnect: true,
    connectTimeout: answerMs,
    socketTimeout: answerMs,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    // Zero: a command on a connection that closed is rejected at once.
    maxRetriesPerRequest: 0,
    keepAlive: 10_000,
  };
}

/**
 * Connects a client. Rejects with the reason: the library gives it only as an event, and says of each failure that the
 * connection is closed.
 */
export async function connect(client: RedisClient): Promise<void> {
  let reason: unknown;
  const note = (error: unknown): void => {
    reason = error;
  };
  client.on('error', note);
  try {
    await client.connect();
  } catch (error) {
    const cause = (reason ?? error) as NodeJS.ErrnoException;
    throw new Error(`Redis cannot be reached (${cause.code ?? cause.message})`, { cause });
  } finally {
    client.off('error', note);
  }
}

/**
 * Returns the delay in milliseconds before the next attempt: 50 more after each failure, at most 500. So the client
 * reconnects soon after Redis is back.
 */
export function redisRetryDelayMs(attempt: number): number {
  return Math.min(attempt * 50, 500);
}
