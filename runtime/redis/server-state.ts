import type { ServerState } from '../engine.ts';

/**
 * Reads what a server answers to INFO. A field that is missing reads as what is least safe: version 0, no policy, no
 * append-only file, no master.
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
    replicas: Number(field('connected_slaves') ?? 0),
    // Redis tells how many of its replicas keep up only while min-replicas-to-write asks for any.
    waitsForReplicas: field('min_slaves_good_slaves') !== undefined,
  };
}
