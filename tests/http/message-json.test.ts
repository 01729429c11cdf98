/**
 * The hand-written JSON is equal to that of JSON.stringify, whatever texts hold. The types of the records require every
 * field. So a field that is not written does not pass, and one that is missing here does not compile.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MESSAGE_REASONS, MESSAGE_STATUSES, type MessageReason } from '../../actors/message-status.ts';
import { message as messageSchema } from '../../actors/replies/message-replies.ts';
import type { Accepted, MessageView } from '../../actors/shops/shop-operations.ts';
import { successBody } from '../../http/contract/envelope.ts';
import { acceptedBody, messageJson } from '../../http/contract/message-json.ts';
import type { PolicyVerdict } from '../../policy/verdict.ts';

const count = fc.nat(1_000);
const id = fc.stringMatching(/^[0-9a-f]{24}$/);
const optionalText = fc.option(fc.string({ unit: 'binary', maxLength: 40 }));
const time = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
const status = fc.constantFrom(...MESSAGE_STATUSES);
const policy = fc.record<PolicyVerdict>({
  recipientClass: fc.constantFrom('known', 'cold', 'declared', 'group'),
  warmupDay: count,
  caps: fc.record({ perDay: count, perHour: count, coldPerDay: count, declaredPerDay: count }),
  usage: fc.record({ today: count, lastHour: count, coldToday: count, declaredToday: count }),
});
const message = fc.record<MessageView>({
  id,
  shopId: id,
  channel: fc.constant('msgapp' as const),
  to: optionalText,
  kind: fc.constantFrom('message', 'status'),
  text: optionalText,
  mediaUrl: optionalText,
  mediaType: fc.constantFrom(null, 'image', 'video', 'document'),
  status,
  reason: fc.constantFrom(null, ...(Object.keys(MESSAGE_REASONS) as MessageReason[])),
  via: fc.constantFrom('shop', 'pool'),
  policy: fc.option(policy),
  createdAt: time,
  updatedAt: time,
  sentAt: fc.option(time),
  idempotencyKey: optionalText,
  requestId: fc.option(fc.stringMatching(/^[ -~]{1,40}$/)),
  traceparent: fc.option(fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)),
  deliveredAt: fc.option(time),
  readAt: fc.option(time),
});
const groupMessage = fc
  .tuple(message, fc.nat(), fc.nat())
  .map(([shown, deliveredCount, readCount]): MessageView => ({ ...shown, deliveredCount, readCount }));
const replyMessage = fc
  .tuple(message, fc.string(), id)
  .map(([shown, toId, replyTo]): MessageView => ({ ...shown, toId, replyTo }));
const waitingMessage = fc
  .tuple(message, fc.nat(), fc.option(time))
  .map(([shown, position, estimatedSendAt]): MessageView => ({ ...shown, position, estimatedSendAt }));
const batchMessage = fc.tuple(message, id).map(([shown, batchId]): MessageView => ({ ...shown, batchId }));
const accepted = fc.record<Accepted>({
  id,
  status,
  statusUrl: id.map((messageId) => `/api/v1/messages/${messageId}`),
  policy,
});

test('a message is written as JSON.stringify would write it', () => {
  const shown = fc.oneof(message, groupMessage, replyMessage, batchMessage, waitingMessage);
  fc.assert(fc.property(shown, (value) => assert.equal(messageJson(value), JSON.stringify(value))));
});

test('the reply to a send is written as JSON.stringify would write it', () => {
  fc.assert(fc.property(accepted, (value) => assert.equal(acceptedBody(value), successBody(value))));
});

test('the document names every field of a record', () => {
  const samples = [groupMessage, replyMessage, batchMessage, waitingMessage].map(
    (kind) => fc.sample(kind, 1)[0],
  );
  const fields = new Set(samples.flatMap((sample) => Object.keys(sample ?? {})));
  assert.deepEqual(Object.keys(messageSchema.entries).sort(), [...fields].sort());
});
