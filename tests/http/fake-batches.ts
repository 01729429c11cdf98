import { done, failed, type Outcome } from '../../actors/failure.ts';
import type { BatchOperations, BatchView } from '../../actors/shops/batch-operations.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import { type FakeMemory, pageOf } from './fake-account.ts';

const STEERED = { pause: 'paused', resume: 'waiting', cancel: 'cancelled' } as const;
const NONE = { queued: 0, sent: 0, failed: 0, rejected: 0, refused: 0, repeated: 0 } as const;

/** Batches in the memory of a fake; nothing of them is ever sent. */
export function fakeBatches(memory: FakeMemory): BatchOperations<ShopReference> {
  const find = (reference: ShopReference, batchId: string): Outcome<BatchView> => {
    const found = memory.shop(reference).batches.find(({ id }) => id === batchId);
    return found === undefined ? failed('BATCH_NOT_FOUND') : done(found);
  };
  return {
    async createBatch(reference, asked) {
      const stopped = await memory.stopped('createBatch');
      if (stopped) return stopped;
      const { batches } = memory.shop(reference);
      const { name, text = null, mediaUrl = null, mediaType, share, idempotencyKey = null } = asked;
      const known = batches.find((one) => idempotencyKey !== null && one.idempotencyKey === idempotencyKey);
      if (known !== undefined)
        return done({ replayed: true, differs: false, accepted: { ...known, refused: [] } });
      const now = new Date().toISOString();
      const made: BatchView = {
        ...{ id: memory.id(), shopId: reference.shopId, name, status: asked.paused ? 'paused' : 'waiting' },
        ...{ text, mediaUrl, mediaType: mediaUrl === null ? null : mediaType, share, idempotencyKey },
        ...{ quietHours: asked.quietHours ?? null, notBefore: now, notAfter: now, createdAt: now },
        ...{ startedAt: null, endedAt: null, stopped: null, recipients: asked.recipients.length },
        ...{ progress: { waiting: asked.recipients.length, ...NONE }, codes: {}, forecast: null },
      };
      batches.unshift(made);
      return done({ replayed: false, differs: false, accepted: { ...made, refused: [] } });
    },
    async addRecipients(reference, batchId, { recipients }) {
      const stopped = await memory.stopped('addRecipients');
      if (stopped) return stopped;
      const found = find(reference, batchId);
      if (!found.ok) return found;
      const all = found.value.recipients + recipients.length;
      Object.assign(found.value, { recipients: all, progress: { waiting: all, ...NONE } });
      return done({ replayed: false, differs: false, accepted: { ...found.value, refused: [] } });
    },
    async listBatches(reference, page) {
      const stopped = await memory.stopped('listBatches');
      return stopped ?? done(pageOf(memory.shop(reference).batches, page));
    },
    async batch(reference, batchId) {
      return (await memory.stopped('batch')) ?? find(reference, batchId);
    },
    async steerBatch(reference, batchId, order) {
      const stopped = await memory.stopped('steerBatch');
      if (stopped) return stopped;
      const found = find(reference, batchId);
      return found.ok ? done(Object.assign(found.value, { status: STEERED[order] })) : found;
    },
  };
}
