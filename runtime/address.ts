/** How many shards an installation has that chose no other number. */
export const DEFAULT_SHARDS = 128;
/** The fewest that it may choose. Up to twelve nodes share them evenly, so no installation needs fewer. */
export const LEAST_SHARDS = 128;
/** The most that it may choose: each node reads the record of every shard each second. */
export const MOST_SHARDS = 4_096;

let shards = DEFAULT_SHARDS;
/** True once something depends on the number. */
let isUsed = false;

/** Returns how many shards there are. The number is fixed for the life of the data (runtime/README.md, One writer). */
export function shardCount(): number {
  isUsed = true;
  return shards;
}

/**
 * Sets how many shards the data has. A node reads this before anything else. The number belongs to the process, not to
 * a node: code without a node also makes addresses. A process works for one installation. So this throws if addresses
 * were made with another number.
 */
export function setShardCount(count: number): void {
  if (isUsed && count !== shards)
    throw new Error(`this process has made addresses of ${shards} shards, so it cannot work with ${count}`);
  shards = count;
}

/** Lets a test work with another installation after this. It must keep no address from before. */
export function forgetShardCount(): void {
  shards = DEFAULT_SHARDS;
  isUsed = false;
}

/** The address of an actor: `shard` decides which node runs it, `kind` which behaviour it has, `id` which one it is. */
export interface Address {
  readonly shard: number;
  readonly kind: string;
  readonly id: string;
  /** Its `addressText`, if it was computed before. Use it for an address that is used again and again. */
  readonly text?: string;
}

/** Returns the address as text, unique among all actors: `kind/id`. */
export function addressText(address: Omit<Address, 'shard'>): string {
  return address.text ?? `${address.kind}/${address.id}`;
}

/** Reads `addressText` back. */
export function addressOf(shard: number, text: string): Address {
  const slash = text.indexOf('/');
  return { shard, kind: text.slice(0, slash), id: text.slice(slash + 1) };
}

/** Returns the shard of a name (FNV-1a, 32 bits). It never changes for a name, because data is stored under it. */
export function shardOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  return hash % shardCount();
}

/** Returns the prefix of each Redis key of a shard: its hash tag, so one script may use them all in a cluster. */
export function shardPrefix(shard: number): string {
  PREFIXES[shard] ??= `{s${shard}}:`;
  return PREFIXES[shard];
}

const PREFIXES: string[] = [];

/**
 * Returns a Redis key of a shard. All keys of a shard have the same hash tag, so that one script may use them in a
 * Redis Cluster.
 */
export function shardKey(shard: number, ...parts: string[]): string {
  let key = `{s${shard}}`;
  // Faster than joining, and every message has a few.
  for (const part of parts) key += `:${part}`;
  return key;
}
