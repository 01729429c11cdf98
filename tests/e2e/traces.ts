import type { Redis } from 'ioredis';

/** Every key whose name or content names one of the ids. What `DUMP` answers must not be compressed (`rdbcompression no`). */
export async function tracesIn(redis: Redis, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const dump = await redis.dumpBuffer(key);
    const content = dump?.toString('latin1') ?? '';
    if (ids.some((id) => key.includes(id) || content.includes(id))) found.push(key);
  }
  return found;
}
