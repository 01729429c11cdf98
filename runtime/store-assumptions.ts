import type { ServerState } from './engine.ts';
import type { Logger } from './logger.ts';

/** Redis 7 is the first whose scripts are refused whole when memory is full (see commit-shards.lua). */
const OLDEST_MAJOR_VERSION = 7;

/** The settings and states of Redis that the runtime's promises depend on. */
export const ASSUMPTION_NAMES = [
  'version',
  'noeviction',
  'master',
  'append_only',
  'disk',
  'safe_failover',
] as const;
export type AssumptionName = (typeof ASSUMPTION_NAMES)[number];

interface Assumption {
  /**
   * With `refuse` no node starts unless it is met. `error` and `warn` are the level of the log line if it is not met.
   */
  readonly severity: 'refuse' | 'error' | 'warn';
  holds(server: ServerState): boolean;
  /** The problem, its consequence and the setting to change. */
  sentence(server: ServerState): string;
}

const ASSUMPTIONS: Readonly<Record<AssumptionName, Assumption>> = {
  version: {
    severity: 'refuse',
    holds: ({ version }) => Number.parseInt(version, 10) >= OLDEST_MAJOR_VERSION,
    sentence: ({ version }) =>
      `Redis ${version} is too old: scripts that are refused whole came with Redis ${OLDEST_MAJOR_VERSION}`,
  },
  noeviction: {
    severity: 'refuse',
    holds: ({ evictionPolicy }) => evictionPolicy === 'noeviction',
    sentence: ({ evictionPolicy }) =>
      `Redis drops data when memory is short (maxmemory-policy ${evictionPolicy}): messages would be lost or sent twice; set maxmemory-policy noeviction`,
  },
  master: {
    severity: 'refuse',
    holds: ({ isMaster }) => isMaster,
    sentence: () => 'Redis is a read-only replica: REDIS_URL must lead to the master',
  },
  append_only: {
    severity: 'error',
    holds: ({ isAppendOnly }) => isAppendOnly,
    sentence: () =>
      'Redis keeps no append-only file: a restart of it loses accepted messages; set appendonly yes, appendfsync always',
  },
  disk: {
    severity: 'error',
    holds: ({ writesToDisk }) => writesToDisk,
    sentence: () =>
      'Redis failed to write to its disk and may refuse writes (MISCONF): see its log, and make room on its disk',
  },
  safe_failover: {
    severity: 'warn',
    holds: ({ replicas, waitsForReplicas }) => replicas === 0 || waitsForReplicas,
    sentence: ({ replicas }) =>
      `Redis has ${replicas} replicas and acknowledges writes that none of them may have: a failover may lose them; set min-replicas-to-write 1`,
  },
};

/** True if an assumption is met by every server. */
export function isHeld(name: AssumptionName, servers: readonly ServerState[]): boolean {
  return servers.every((server) => ASSUMPTIONS[name].holds(server));
}

/** Throws a sentence for each assumption without which no node starts. */
export function refuseUnsafe(servers: readonly ServerState[]): void {
  const sentences = ASSUMPTION_NAMES.flatMap((name) => {
    const { severity, holds, sentence } = ASSUMPTIONS[name];
    const brokenServer = servers.find((server) => !holds(server));
    return severity === 'refuse' && brokenServer !== undefined
      ? [`${brokenServer.name}: ${sentence(brokenServer)}`]
      : [];
  });
  if (sentences.length > 0) throw new Error(sentences.join('. '));
}

/** Logs once that an assumption is not met, and once that it is met again. */
export class AssumptionWatch {
  readonly #log: Logger;
  readonly #broken = new Set<AssumptionName>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Reads the servers as they are now. */
  see(servers: readonly ServerState[]): void {
    for (const name of ASSUMPTION_NAMES) {
      const { severity, holds, sentence } = ASSUMPTIONS[name];
      const brokenServer = servers.find((server) => !holds(server));
      if ((brokenServer !== undefined) === this.#broken.has(name)) continue;
      if (brokenServer === undefined) {
        this.#broken.delete(name);
        this.#log.info({ assumption: name }, 'Redis meets this assumption again');
      } else {
        this.#broken.add(name);
        const level = severity === 'warn' ? 'warn' : 'error';
        this.#log[level]({ assumption: name, server: brokenServer.name }, sentence(brokenServer));
      }
    }
  }
}

/**
 * Reads a server's reply to INFO. Missing fields mean: version 0, no policy, no append-only file, no master, no memory
 * limit, no replicas, and a disk without a failure.
 */
export function parseServerState(name: string, info: string): ServerState {
  const field = (key: string): string | undefined => new RegExp(`^${key}:(\\S*)`, 'm').exec(info)?.[1];
  const maximumBytes = Number(field('maxmemory') ?? 0);
  return {
    name,
    version: field('redis_version') ?? '0',
    isMaster: field('role') === 'master',
    memoryUse: maximumBytes === 0 ? 0 : Number(field('used_memory') ?? 0) / maximumBytes,
    evictionPolicy: field('maxmemory_policy') ?? 'unknown',
    isAppendOnly: field('aof_enabled') === '1',
    writesToDisk: field('aof_last_write_status') !== 'err' && field('rdb_last_bgsave_status') !== 'err',
    replicas: Number(field('connected_slaves') ?? 0),
    // Redis reports how many of its replicas are in sync only while min-replicas-to-write requires any.
    waitsForReplicas: field('min_slaves_good_slaves') !== undefined,
  };
}
