/** Replies about batches (docs/contract.md, Batches). */
import * as v from 'valibot';
import { BATCH_STATUSES, BATCH_STOP_REASONS } from '../batch-status.ts';
import { content } from './message-schemas.ts';
import { count, id, instant } from './reply-fields.ts';

/** Hours of each day in which nothing of a batch leaves. */
export const quietHours = v.strictObject({
  from: v.pipe(v.string(), v.description('A time of day, `HH:MM`.'), v.metadata({ examples: ['20:00'] })),
  to: v.pipe(
    v.string(),
    v.description('A time of day like `from`. If it is earlier than `from`, it is on the next day.'),
    v.metadata({ examples: ['08:00'] }),
  ),
  timeZone: v.pipe(
    v.string(),
    v.description('The name of a time zone in the IANA database.'),
    v.metadata({ examples: ['Europe/Berlin'] }),
  ),
});

export const batch = v.strictObject({
  id,
  shopId: id,
  name: v.string(),
  status: v.pipe(
    v.picklist(BATCH_STATUSES),
    v.description('`waiting`: nothing was accepted yet. `stopped`: it stopped by itself, as `stopped` says.'),
  ),
  ...content.entries,
  share: v.pipe(v.number(), v.description('The part of each cap up to which a batch may send.')),
  quietHours: v.nullable(quietHours),
  notBefore: instant,
  notAfter: v.pipe(instant, v.description('Nothing more is sent after this.')),
  createdAt: instant,
  startedAt: v.pipe(v.nullable(instant), v.description('When its first message was accepted.')),
  endedAt: v.nullable(instant),
  stopped: v.nullable(v.strictObject({ reason: v.picklist(BATCH_STOP_REASONS), at: instant })),
  recipients: v.pipe(count, v.description('The recipients that were accepted.')),
  progress: v.strictObject({
    waiting: v.pipe(count, v.description('No message was made for them yet.')),
    queued: v.pipe(count, v.description('Their message waits or is being sent.')),
    sent: count,
    failed: count,
    rejected: count,
    refused: v.pipe(
      count,
      v.description(
        'No message was made for them, and none will be. Those whom a call refused are included.',
      ),
    ),
    repeated: v.pipe(count, v.description('An earlier message has their idempotencyKey, so none was made.')),
  }),
  codes: v.pipe(
    v.record(v.string(), count),
    v.description(
      'How many messages failed or were rejected, and how many recipients were refused, for each code.',
    ),
  ),
  forecast: v.pipe(
    v.nullable(
      v.strictObject({
        firstAt: v.nullable(instant),
        lastAt: v.nullable(instant),
        days: v.pipe(
          v.array(v.strictObject({ date: v.pipe(v.string(), v.metadata({ format: 'date' })), count })),
          v.description('In the time zone of the quiet hours, or in UTC if there are none.'),
        ),
      }),
    ),
    v.description('When the remaining messages will be accepted. Null in lists, and if none remain.'),
  ),
  idempotencyKey: v.nullable(v.string()),
});

/** A batch with the recipients that it took, and those that it refused. */
export const takenBatch = v.strictObject({
  ...batch.entries,
  refused: v.array(
    v.strictObject({ to: v.string(), code: v.picklist(['RECIPIENT_OPTED_OUT', 'COLD_RECIPIENT']) }),
  ),
});
