import { shardKey } from '../../../runtime/address.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import { errorText } from '../../../runtime/described-error.ts';
import { partsOf } from '../../../runtime/parts.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { SessionAddress } from '../session-host.ts';
import {
  SENT_HASHES,
  type SealedChange,
  type SealedHash,
  type StoreAnswer,
  type StoreRequest,
} from '../worker-protocol.ts';

/** Returns the key of one of a shop's sealed hashes. */
export function sealedKey(shop: Pick<SessionAddress, 'shard' | 'shopId'>, hash: SealedHash): string {
  return shardKey(shop.shard, 'shop', shop.shopId, hash);
}

/** Fields read at once, and the cursor with which Redis begins and ends. */
const FIELDS_PER_PART = 300;
const START = '0';

/** Delay in milliseconds before a store that did not answer is asked again. */
const ASK_AGAIN_MS = 200;

/**
 * Answers a worker's request to the store. Never rejects: a failure is a reply.
 *
 * While the store is unreachable the request is repeated, so that a session with an order in progress keeps its socket.
 * A session has one write at a time, and repeating it changes nothing. `goesOn` returns true while that session is
 * still the shop's current one. It is called before each further attempt, so that no write of an old session follows
 * one of a new session.
 */
export async function answerStoreRequest(
  options: { readonly store: Store; readonly clock: Clock; readonly goesOn: () => boolean },
  shop: SessionAddress,
  request: StoreRequest,
): Promise<StoreAnswer> {
  const { store, clock, goesOn } = options;
  for (;;) {
    try {
      return await answerOnce(store, shop, request);
    } catch (error) {
      const failedAnswer = { kind: 'failed', message: errorText(error) } as const;
      if (!isAway(error)) return failedAnswer;
      await sleep(clock, ASK_AGAIN_MS);
      if (!goesOn()) return failedAnswer;
    }
  }
}

async function answerOnce(store: Store, shop: SessionAddress, request: StoreRequest): Promise<StoreAnswer> {
  if (request.kind === 'write') {
    await store.commit(
      shop.shard,
      request.changes.flatMap((change) => writesOf(shop, change)),
    );
    return { kind: 'done' };
  }
  const key = sealedKey(shop, request.hash);
  if (request.kind === 'names') {
    const [names] = await store.readBytes([['HKEYS', key]]);
    return { kind: 'surveyed', fields: names.map(String), others: [], next: undefined };
  }
  if (request.kind === 'survey') {
    const scan = ['HSCAN', key, request.from ?? START, 'COUNT', FIELDS_PER_PART] as const;
    const [[cursor, flatPairs]] = await store.readBytes([scan]);
    const { head } = request;
    const next = cursor.toString();
    const pairs = pairsOf(flatPairs);
    const otherPairs = pairs.filter(([, value]) => !value.subarray(0, head.length).equals(head));
    return {
      kind: 'surveyed',
      fields: pairs.map(([field]) => field),
      others: otherPairs.map(([field, value]) => [field, copyOf(value)]),
      next: next === START ? undefined : next,
    };
  }
  const [values] = await store.readBytes([['HMGET', key, ...request.fields]]);
  return { kind: 'values', values: values.map((value) => value && copyOf(value)) };
}

function pairsOf(pairs: readonly Buffer[]): [field: string, value: Buffer][] {
  return Array.from({ length: pairs.length / 2 }, (_, index) => [
    String(pairs[2 * index]),
    pairs[2 * index + 1] ?? Buffer.alloc(0),
  ]);
}

/** True if the store is unreachable now, or its reply was lost. Another owner of the shard does not count. */
function isAway(error: unknown): boolean {
  return (
    error instanceof RuntimeFailure &&
    (error.code === 'STORE_UNAVAILABLE' || error.code === 'OUTCOME_UNKNOWN')
  );
}

/** Removes all that is sealed of a shop, in one fenced write. */
export async function eraseSealed(store: Store, shop: SessionAddress): Promise<void> {
  const hashes: readonly SealedHash[] = ['credentials', ...SENT_HASHES];
  await store.commit(
    shop.shard,
    hashes.map((hash): Write => ['UNLINK', sealedKey(shop, hash)]),
  );
}

/**
 * Fields of one write; a larger change is several writes of one commit. The client stores the ids of all contacts of a
 * pairing's history at once, and a new key seals everything again. Both may exceed one write.
 */
const FIELDS_PER_WRITE = 1_000;

/** Returns the writes of one change; they belong into one commit. */
export function writesOf(shop: SessionAddress, change: SealedChange): Write[] {
  const key = sealedKey(shop, change.hash);
  const writes: Write[] = [];
  if (change.clears) writes.push(['DEL', key]);
  for (const pairs of partsOf(change.set, FIELDS_PER_WRITE))
    writes.push(['HSET', key, ...pairs.flatMap(([field, value]) => [field, Buffer.from(value)])]);
  for (const fields of partsOf(change.remove, FIELDS_PER_WRITE)) writes.push(['HDEL', key, ...fields]);
  if (change.expiresAtMs !== undefined) writes.push(['PEXPIREAT', key, change.expiresAtMs]);
  return writes;
}

/**
 * Copies a value into its own memory before it goes to another thread: cloning a view clones the whole buffer behind
 * it.
 */
const copyOf = (value: Buffer): Uint8Array => new Uint8Array(value);
