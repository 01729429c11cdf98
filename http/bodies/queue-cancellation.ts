import * as v from 'valibot';
import { count } from '../../actors/reply-schemas/reply-fields.ts';
import type { QueueFilter } from '../../actors/shops/shop-operations.ts';
import { closedObject } from '../contract/closed-object.ts';
import { recipient, text, utcDateTime } from '../contract/fields.ts';

/** Selects the queued messages to cancel; the same for tenants and operators. */
export const queueCancellation = v.pipe(
  closedObject({
    idempotencyKeyPrefix: v.optional(text({ min: 1, max: 128 })),
    to: v.optional(recipient),
    acceptedBefore: v.optional(utcDateTime),
  }),
  v.check(
    (body) => Object.values(body).some((value) => value !== undefined),
    'must have idempotencyKeyPrefix, to or acceptedBefore',
  ),
  v.metadata({ minProperties: 1 }),
);

export const QUEUE_CANCELLATION_EXAMPLE = { idempotencyKeyPrefix: 'campaign-7-' };

export const QUEUE_CANCELLED = {
  200: {
    description: 'How many messages ended as `failed` with the reason `CANCELLED`.',
    data: v.strictObject({ cancelled: count }),
    example: { cancelled: 12 },
  },
} as const;

/** Returns the filter of a request's body. */
export function queueFilter(body: v.InferOutput<typeof queueCancellation>): QueueFilter {
  const { idempotencyKeyPrefix, to, acceptedBefore } = body;
  const acceptedBeforeMs = acceptedBefore === undefined ? undefined : Date.parse(acceptedBefore);
  return { idempotencyKeyPrefix, to, acceptedBeforeMs };
}
