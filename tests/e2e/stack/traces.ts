import type { Redis } from 'ioredis';

/** A key of Redis whose name or content has the id of a record. */
interface Trace {
  readonly key: string;
  readonly id: string;
}

/** Yields each key with its name and content. The answers of `DUMP` must not be compressed (`redis-server.ts`). */
async function* contents(redis: Redis): AsyncGenerator<readonly [key: string, content: string]> {
  for (const key of await redis.keys('*')) {
    const dump = await redis.dumpBuffer(key);
    yield [key, `${key}\n${dump?.toString('latin1') ?? ''}`];
  }
}

/** Every key whose name or content has one of these texts. */
export async function tracesIn(redis: Redis, texts: readonly string[]): Promise<string[]> {
  return [...new Set((await textsIn(redis, texts)).map(({ key }) => key))];
}

/** Each of these texts that the name or content of a key has. */
export async function textsIn(
  redis: Redis,
  texts: readonly string[],
): Promise<{ readonly key: string; readonly text: string }[]> {
  const found = [];
  for await (const [key, content] of contents(redis))
    found.push(...texts.filter((text) => content.includes(text)).map((text) => ({ key, text })));
  return found;
}

/** The length of every record's id, in hexadecimal digits. */
const ID_DIGITS = 24;
const ID_RUNS = /[0-9a-f]{24,}/g;

/** Each of the ids that the name or content of a key has, once a key: as `tracesIn` for very many ids. */
export async function tracesOf(redis: Redis, ids: ReadonlySet<string>): Promise<Trace[]> {
  const foundTraces: Trace[] = [];
  for await (const [key, content] of contents(redis))
    foundTraces.push(...[...idsIn(content)].filter((id) => ids.has(id)).map((id) => ({ key, id })));
  return foundTraces;
}

/** Returns all parts of a text that may be an id. Two ids may follow each other without a gap. */
function idsIn(text: string): ReadonlySet<string> {
  const named = new Set<string>();
  for (const [run] of text.matchAll(ID_RUNS)) {
    for (let start = 0; start + ID_DIGITS <= run.length; start += 1)
      named.add(run.slice(start, start + ID_DIGITS));
  }
  return named;
}
