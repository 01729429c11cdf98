/** What is written by hand is what JSON.stringify would write, whatever texts hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Accepted, MessageView } from '../../actors/shop/record/shop-operations.ts';
import { acceptedJson, messageJson } from '../../http/contract/message-json.ts';

const count = fc.nat(1_000);
const id = fc.stringMatching(/^[0-9a-f]{24}$/);
const optionalText = fc.option(fc.string({ unit: 'binary', maxLength: 40 }));
const time = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
const status = fc.constantFrom('queued', 'sending', 'sent', 'failed', 'rejected');
const policy = fc.record({
  recipientClass: fc.constantFrom('known', 'cold', 'declared', 'group'),
  warmupDay: count,
  caps: fc.record({ perDay: count, perHour: count, coldPerDay: count, declaredPerDay: count }),
  usage: fc.record({ today: count, lastHour: count, coldToday: count, declaredToday: count }),
});
const message = fc.record({
  id,
  shopId: id,
  channel: fc.constant('msgapp'),
  to: optionalText,
  kind: fc.constantFrom('message', 'status'),
  text: optionalText,
  mediaUrl: optionalText,
  mediaType: fc.constantFrom(null, 'image', 'video', 'document'),
  status,
  reason: fc.constantFrom(null, 'SEND_REFUSED'),
  via: fc.constantFrom('shop', 'pool'),
  policy: fc.option(policy),
  createdAt: time,
  updatedAt: time,
  sentAt: fc.option(time),
}) as fc.Arbitrary<MessageView>;
const accepted = fc.record({
  id,
  status,
  statusUrl: id.map((messageId) => `/api/v1/messages/${messageId}`),
  policy,
}) as fc.Arbitrary<Accepted>;

test('a message is written as JSON.stringify would write it', () => {
  fc.assert(fc.property(message, (value) => assert.equal(messageJson(value), JSON.stringify(value))));
});

test('what a send answers is written as JSON.stringify would write it', () => {
  fc.assert(fc.property(accepted, (value) => assert.equal(acceptedJson(value), JSON.stringify(value))));
});
