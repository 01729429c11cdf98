import type { Actors } from '../../../runtime/actors.ts';
import { afterCommand } from '../../../runtime/after-command.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, type FailureCode, failed, type Outcome } from '../../failure.ts';
import { isoOrNull } from '../../iso-time.ts';
import type { BatchOperations, BatchView } from '../batch-operations.ts';
import { contentOf } from '../message-content.ts';
import type { BatchReply } from '../protocol/shop-replies.ts';
import { readBatches, readBatchIds, type StoredBatch } from '../reading/batch-reading.ts';
import type { ShopReference } from '../shop-operations.ts';
import { type BatchRecord, waitingOf } from '../state/batches.ts';
import type { ShopState } from '../state/shop-state.ts';
import { askShop, fromShop } from './ask-shop.ts';
import { batchForecasts } from './batch-forecasts.ts';
import { idPage } from './id-page.ts';
import type { EstimateTimes } from './queue-place.ts';

interface BatchingOptions {
  readonly actors: Pick<Actors, 'ask' | 'state'>;
  readonly store: Store;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly times: EstimateTimes;
  readonly retentionMs: number;
}

/** Makes the operations on a shop's batches. */
export function batchOperations(options: BatchingOptions): BatchOperations<ShopReference> {
  const { actors, store, clock, retentionMs } = options;
  const forecast = batchForecasts(options);
  const batch: BatchOperations<ShopReference>['batch'] = (shop, batchId) =>
    fromShop(actors, shop, async (state) => {
      const [storedBatch] = await readBatches([batchId], { keys: state.keys, store });
      const view = storedBatch && shownBatch(state, batchId, storedBatch);
      if (storedBatch === undefined || view === undefined) return failed('BATCH_NOT_FOUND');
      return done({ ...view, forecast: await forecast(shop, state, batchId) });
    });
  const withBatch = async <Code extends FailureCode>(
    shop: ShopReference,
    reply: Outcome<BatchReply, Code>,
  ) => {
    if (!reply.ok) return reply;
    const { batchId, refused, isReplayed, differs } = reply.value;
    const view = await afterCommand(() => batch(shop, batchId));
    return view.ok ? done({ isReplayed, differs, accepted: { ...view.value, refused } }) : view;
  };
  return {
    batch,
    createBatch: async (shop, request) =>
      withBatch(shop, await askShop(actors, shop, { type: 'create_batch', asked: request })),
    addRecipients: async (shop, batchId, request) =>
      withBatch(shop, await askShop(actors, shop, { type: 'add_recipients', batchId, asked: request })),
    async steerBatch(shop, batchId, action) {
      const reply = await askShop(actors, shop, { type: 'steer_batch', batchId, order: action });
      return reply.ok ? await afterCommand(() => batch(shop, batchId)) : reply;
    },
    listBatches: (shop, query) =>
      fromShop(actors, shop, async (state) => {
        const reading = { keys: state.keys, store, nowMs: clock.wallMs(), retentionMs };
        const { ids, nextCursor } = idPage(await readBatchIds(reading), query);
        const storedBatches = await readBatches(ids, reading);
        const items = ids.flatMap((id, index) => {
          const storedBatch = storedBatches[index];
          return (storedBatch && shownBatch(state, id, storedBatch)) ?? [];
        });
        return done({ items, nextCursor });
      }),
  };
}

/** Returns the batch as the API shows it, without its forecast. */
function shownBatch(
  { shop, batches }: Pick<ShopState, 'shop' | 'batches'>,
  batchId: string,
  { content, ended }: StoredBatch,
): BatchView | undefined {
  const record: (BatchRecord & { readonly endedAtMs?: number }) | undefined =
    batches.find(({ id }) => id === batchId) ?? ended;
  if (record === undefined) return undefined;
  const { id, name, status, share, quietHours, counts, codes, stop, idempotencyKey } = record;
  return {
    id,
    shopId: shop.shopId,
    name,
    status,
    ...contentOf(content),
    share,
    quietHours,
    notBefore: new Date(record.notBeforeMs).toISOString(),
    notAfter: new Date(record.notAfterMs).toISOString(),
    createdAt: new Date(record.createdAtMs).toISOString(),
    startedAt: isoOrNull(record.startedAtMs),
    endedAt: isoOrNull(record.endedAtMs ?? null),
    stopped: stop === null ? null : { reason: stop.reason, at: new Date(stop.atMs).toISOString() },
    recipients: record.total,
    progress: { waiting: waitingOf(record), ...counts },
    codes,
    forecast: null,
    idempotencyKey,
  };
}
