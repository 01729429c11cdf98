/** Reads the stored batches of a shop, including ended ones. */
import { hashFields, type Store } from '../../../runtime/store.ts';
import type { RefusedRecipient } from '../batch-operations.ts';
import { keptDays, type Retention } from '../records/message-days.ts';
import { readInSteps } from '../records/scan-hash.ts';
import { isKeyField, keyField, type ShopKeys } from '../records/shop-keys.ts';
import { type BatchContent, type BatchRecord, batchKey, endedBatchesKey } from '../state/batches.ts';

/** The location of batches, and their retention. */
export interface BatchReading extends Retention {
  readonly keys: Pick<ShopKeys, 'shop' | 'batches'>;
  readonly store: Pick<Store, 'read'>;
}

export type EndedBatch = BatchRecord & { readonly endedAtMs: number };

/** The content of a batch's own hash, without its recipients. */
export interface StoredBatch {
  readonly content: BatchContent;
  /** The recipients that were refused when it was made. */
  readonly refused: readonly RefusedRecipient[];
  /** undefined: it has not ended. */
  readonly ended: EndedBatch | undefined;
}

/** Returns the keys of all kept days that name ended batches. */
export function endedBatchKeys(reading: Omit<BatchReading, 'store'>): string[] {
  return keptDays(reading).map((day) => endedBatchesKey(reading.keys, day));
}

/**
 * Returns the ids of all stored batches, newest first. Reads in steps, because any number of them may have ended.
 * `strayKeys` name batches that ended before all kept days.
 */
export async function readBatchIds(
  reading: BatchReading,
  strayKeys: readonly string[] = [],
): Promise<string[]> {
  const { keys, store } = reading;
  // A batch that ends meanwhile moves to the ended ones, so they are read later.
  const active = await readInSteps(store, keys.batches);
  const endedKeys = [...endedBatchKeys(reading), ...strayKeys];
  const endedIds = await Promise.all(endedKeys.map((key) => readInSteps(store, key)));
  const fields = [active, ...endedIds].flatMap((pairs) => [...hashFields(pairs).keys()]);
  return [...new Set(fields.filter((field) => !isKeyField(field)))].sort().reverse();
}

/** Reads batches by id. An entry is undefined if there is no such batch. */
export async function readBatches(
  ids: readonly string[],
  { keys, store }: Pick<BatchReading, 'keys' | 'store'>,
): Promise<(StoredBatch | undefined)[]> {
  const reads = ids.map((id) => ['HMGET', batchKey(keys, id), 'content', 'refused:', 'ended'] as const);
  const replies = await store.read(reads);
  return replies.map(([content, refusedText, endedText]) =>
    content == null
      ? undefined
      : {
          content: JSON.parse(content) as BatchContent,
          refused: JSON.parse(refusedText ?? '[]') as RefusedRecipient[],
          ended: endedText == null ? undefined : (JSON.parse(endedText) as EndedBatch),
        },
  );
}

/** Returns the id of the batch that an idempotency key made, or undefined if there is none. */
export async function readKeyedBatch(
  idempotencyKey: string,
  reading: BatchReading,
): Promise<string | undefined> {
  const field = keyField(idempotencyKey);
  const keys = [reading.keys.batches, ...endedBatchKeys(reading)];
  const values = await reading.store.read(keys.map((key) => ['HGET', key, field]));
  return values.find((id) => id !== null) ?? undefined;
}
