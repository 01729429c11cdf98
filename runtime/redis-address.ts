import type { RedisOptions } from 'ioredis';

/** The address of Redis: one server, or a cluster's first nodes. */
export type RedisAddress =
  | { readonly kind: 'single'; readonly options: RedisOptions }
  | {
      readonly kind: 'cluster';
      readonly nodes: readonly { host: string; port: number }[];
      readonly options: RedisOptions;
    };

/**
 * Reads `REDIS_URL`. It has one of three forms:
 * - `redis://` or `rediss://` with user, password and database;
 * - a Unix socket: `/path` or `unix:///path`;
 * - several of the first form, separated by commas, for a cluster.
 *
 * Throws an error that names the reason and not the password.
 */
export function parseRedisAddress(text: string): RedisAddress {
  if (text.startsWith('/')) return { kind: 'single', options: { path: text } };
  if (text.startsWith('unix://')) return { kind: 'single', options: { path: text.slice('unix://'.length) } };
  const servers = text.split(',').map((part) => parseServer(part.trim()));
  const [first] = servers;
  if (first === undefined) throw new Error('REDIS_URL is empty');
  if (servers.length === 1) return { kind: 'single', options: first };
  const { host: _host, port: _port, db: _db, ...options } = first;
  const nodes = servers.map(({ host = '127.0.0.1', port = 6379 }) => ({ host, port }));
  return { kind: 'cluster', nodes, options };
}

function parseServer(text: string): RedisOptions {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Error('REDIS_URL is neither a URL nor the path of a socket');
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    throw new Error(`REDIS_URL has the scheme ${url.protocol} where redis: or rediss: is known`);
  const database = url.pathname.slice(1);
  if (database !== '' && !/^\d+$/.test(database))
    throw new Error('REDIS_URL names a database that is no number');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(database === '' ? {} : { db: Number(database) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
