import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { batch, takenBatch } from '../../actors/reply-schemas/batch-schemas.ts';
import { DEFAULT_BATCH_SHARE } from '../../policy/batch-forecast.ts';
import { CONTENT_POLICY_CODES } from '../../policy/refusal.ts';
import { BATCH_EXAMPLE, quietHours, REFUSED_EXAMPLE } from '../bodies/batch-resources.ts';
import { boundedArray } from '../contract/bounded-array.ts';
import { boundedRecord, closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS, reply } from '../contract/endpoint.ts';
import { name, phoneNumber, text, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { madeOnce, REPLAY_HEADERS, replayHeaders } from '../contract/replay.ts';
import { idempotencyKey, idempotencyKeyOf } from './idempotency-key.ts';
import { draftContent, draftOf } from './messages.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

/** Recipients of one call. */
const MOST_RECIPIENTS_A_CALL = 1_000;
const recipients = v.pipe(
  boundedArray(
    closedObject({
      to: phoneNumber,
      fields: v.optional(
        v.pipe(
          boundedRecord(text({ max: 512 })),
          v.description(
            'The value of each `{{name}}` in the text, by name. A name has 1 to 64 characters on one line, and no braces. Fields that the text does not use are ignored.',
          ),
        ),
      ),
      idempotencyKey,
    }),
    { max: MOST_RECIPIENTS_A_CALL },
  ),
  v.minLength(1, 'must have at least 1 item'),
  // Named in the document. `boundedArray` has refused more already.
  v.maxLength(MOST_RECIPIENTS_A_CALL),
);

const TAKEN_EXAMPLE = { ...BATCH_EXAMPLE, refused: REFUSED_EXAMPLE };

export const createBatch = apiEndpoint({
  name: 'createBatch',
  method: 'POST',
  path: '/shops/{idOrName}/batches',
  tag: 'Batches',
  summary: 'Send one text to many people over hours and days, as far as the send policy allows',
  description:
    'Each message is an ordinary send at its time. A batch sends only while less than `share` of each cap is used. It accepts recipients who are known or declared. `refused` lists all others. A call has at most 1,000 recipients and 64 KiB. Until the batch starts, further calls can add recipients, so set `paused` or a later `notBefore`. A shop has at most 20 batches that have not ended.',
  permission: 'messages.send',
  takesIdempotencyKey: true,
  body: closedObject({
    name: name({ max: 100 }),
    ...draftContent,
    recipients,
    notBefore: v.optional(utcDateTime),
    notAfter: v.optional(
      v.pipe(utcDateTime, v.description('Default: 90 days after `notBefore`; 180 at most.')),
    ),
    quietHours: v.optional(quietHours),
    share: v.optional(
      v.pipe(
        v.number(),
        v.minValue(0.1, 'must be from 0.1 to 0.9'),
        v.maxValue(0.9, 'must be from 0.1 to 0.9'),
      ),
      DEFAULT_BATCH_SHARE,
    ),
    paused: v.optional(v.boolean(), false),
    idempotencyKey,
  }),
  bodyExample: {
    name: BATCH_EXAMPLE.name,
    text: BATCH_EXAMPLE.text,
    recipients: [
      { to: '+41797654321', fields: { name: 'Ann' } },
      { to: '+41797654399', fields: { name: 'Ben' } },
    ],
    quietHours: BATCH_EXAMPLE.quietHours,
    idempotencyKey: BATCH_EXAMPLE.idempotencyKey,
  },
  replies: {
    201: {
      description: 'The batch is stored. It starts by itself.',
      data: takenBatch,
      headers: { Location: 'The batch.' },
      example: TAKEN_EXAMPLE,
    },
    200: {
      description: 'The original of the same idempotencyKey; nothing was stored again.',
      data: takenBatch,
      headers: REPLAY_HEADERS,
      example: TAKEN_EXAMPLE,
    },
  },
  errors: [...NAMED_SHOP_ERRORS, ...CONTENT_POLICY_CODES, 'BATCH_LIMIT_REACHED', 'BATCH_NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  handle(request) {
    const { name, recipients, quietHours, share, paused, notBefore, notAfter } = request.body;
    const content = draftOf(request);
    if (!content.ok) return content;
    return withShop(request, async (shop) => {
      const creation = await request.services.shops.createBatch(shop, {
        ...content.value,
        name,
        recipients,
        quietHours,
        share,
        paused,
        notBeforeMs: notBefore === undefined ? undefined : Date.parse(notBefore),
        notAfterMs: notAfter === undefined ? undefined : Date.parse(notAfter),
      });
      if (!creation.ok) return creation;
      const { shopId, id } = creation.value.accepted;
      return madeOnce(201, creation.value, `${API_BASE_PATH}/shops/${shopId}/batches/${id}`);
    });
  },
});

export const addBatchRecipients = apiEndpoint({
  name: 'addBatchRecipients',
  method: 'POST',
  path: '/shops/{idOrName}/batches/{id}/recipients',
  tag: 'Batches',
  summary: 'Add recipients to a batch that has not started, 10,000 in all',
  description: 'Either all recipients of the call are added, except those in `refused`, or none.',
  permission: 'messages.send',
  takesIdempotencyKey: true,
  body: closedObject({ recipients, idempotencyKey }),
  bodyExample: { recipients: [{ to: '+41797654322', fields: { name: 'Cy' } }], idempotencyKey: 'spring-2' },
  replies: {
    200: {
      description: 'The batch. A repeated idempotencyKey adds nothing.',
      data: takenBatch,
      headers: REPLAY_HEADERS,
      example: { ...BATCH_EXAMPLE, refused: [] },
    },
  },
  errors: [...NAMED_SHOP_ERRORS, 'BATCH_NOT_FOUND', 'BATCH_STARTED', 'BATCH_ENDED'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  handle(request) {
    const key = idempotencyKeyOf(request);
    if (!key.ok) return key;
    return withShop(request, async (shop) => {
      const recipientsRequest = { recipients: request.body.recipients, idempotencyKey: key.value };
      const outcome = await request.services.shops.addRecipients(shop, request.params.id, recipientsRequest);
      return outcome.ok ? reply(200, outcome.value.accepted, replayHeaders(outcome.value)) : outcome;
    });
  },
});

export const listBatches = apiEndpoint({
  name: 'listBatches',
  method: 'GET',
  path: '/shops/{idOrName}/batches',
  tag: 'Batches',
  summary: "List a shop's batches, newest first",
  permission: 'messages.read',
  query: { limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(batch),
      example: { items: [{ ...BATCH_EXAMPLE, forecast: null }], nextCursor: null },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) => withShop(request, (shop) => request.services.shops.listBatches(shop, request.query)),
});

export const readBatch = apiEndpoint({
  name: 'readBatch',
  method: 'GET',
  path: '/shops/{idOrName}/batches/{id}',
  tag: 'Batches',
  summary: 'Read a batch: its progress, and when the rest will be sent',
  permission: 'messages.read',
  replies: { 200: { description: 'The batch.', data: batch, example: BATCH_EXAMPLE } },
  errors: [...NAMED_SHOP_ERRORS, 'BATCH_NOT_FOUND'],
  handle: (request) => withShop(request, (shop) => request.services.shops.batch(shop, request.params.id)),
});

const STEERED = {
  pause: {
    summary: 'Pause a batch. Messages that are being sent continue',
    description: 'The batch.',
    example: { ...BATCH_EXAMPLE, status: 'paused' },
  },
  resume: {
    summary: 'Resume a batch that was paused or stopped by itself',
    description: 'The batch.',
    example: BATCH_EXAMPLE,
  },
  cancel: {
    summary: 'Cancel a batch. Messages that are being sent continue',
    description: 'The batch. A repeated call gets the same answer.',
    example: { ...BATCH_EXAMPLE, status: 'cancelled', forecast: null },
  },
} as const;

export const steerBatch = (['pause', 'resume', 'cancel'] as const).map((order) =>
  apiEndpoint({
    name: `${order}Batch`,
    method: 'POST',
    path: `/shops/{idOrName}/batches/{id}/${order}` as const,
    tag: 'Batches',
    summary: STEERED[order].summary,
    permission: 'messages.send',
    body: closedObject({}),
    replies: {
      200: { description: STEERED[order].description, data: batch, example: STEERED[order].example },
    },
    errors: [...NAMED_SHOP_ERRORS, 'BATCH_NOT_FOUND', 'BATCH_ENDED'],
    forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
    handle: (request) =>
      withShop(request, (shop) => request.services.shops.steerBatch(shop, request.params.id, order)),
  }),
);
