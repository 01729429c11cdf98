/** The record of a message is JSON that any program reads, whatever its texts hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DraftContent } from '../../../../actors/shops/message-content.ts';
import {
  decodeMessage,
  encodeBody,
  type MessageBody,
  withoutRecipient,
} from '../../../../actors/shops/records/message-record.ts';
import type { AskedPart, MessageDraft } from '../../../../actors/shops/shop-operations.ts';
import type { PolicyVerdict } from '../../../../policy/verdict.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';

const count = fc.nat(1_000);
const optionalText = fc.option(fc.string({ unit: 'binary', maxLength: 40 }));
const verdict = fc.record<PolicyVerdict>({
  recipientClass: fc.constantFrom('known', 'cold', 'declared', 'group'),
  warmupDay: count,
  caps: fc.record({ perDay: count, perHour: count, coldPerDay: count, declaredPerDay: count }),
  usage: fc.record({ today: count, lastHour: count, coldToday: count, declaredToday: count }),
});
const id = fc.stringMatching(/^[0-9a-f]{24}$/);
// A new field that is missing here does not compile, and one that `encodeBody` forgets is not read back.
const fullBody = fc.record<MessageBody>({
  id,
  tenantId: id,
  shopId: id,
  kind: fc.constantFrom('message', 'status'),
  to: optionalText,
  text: optionalText,
  mediaUrl: optionalText,
  mediaType: fc.constantFrom(null, 'image', 'video', 'document'),
  via: fc.constantFrom('shop', 'pool'),
  policy: fc.option(verdict),
  createdAtMs: fc.nat(2 ** 41),
  wireId: fc.stringMatching(/^3EB0[0-9A-F]{18}$/),
  idempotencyKey: optionalText,
  requestId: fc.option(fc.stringMatching(/^[ -~]{1,40}$/)),
  traceparent: fc.option(fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)),
  reply: fc.record({ inboundId: id, toId: fc.string({ unit: 'binary', maxLength: 20 }) }),
  batchId: id,
});
const body = fc.oneof(
  fullBody,
  fullBody.map((message): MessageBody => ({ ...message, reply: undefined, batchId: undefined })),
);

/** The fields with a value, whatever their order and their prototype. */
function plain(message: MessageBody | undefined): unknown {
  return JSON.parse(JSON.stringify(message));
}

test('a message is read as it was stored, and as any program would have stored it', (context) => {
  fc.assert(
    fc.property(body, (message) => {
      for (const stored of [encodeBody(message), JSON.stringify(message)]) {
        const read = decodeMessage(message.id, [stored, null])?.body;
        assert.deepEqual(plain(read), plain(message));
      }
    }),
    propertyRuns(context, 100),
  );
});

test('a record without its recipient has no value of the draft', () => {
  // A new field of a draft that is missing here does not compile.
  type GivenField = Exclude<AskedPart, 'content'> | keyof DraftContent;
  const draft: { readonly [Field in GivenField]-?: NonNullable<MessageDraft[Field]> } = {
    to: '+41791234567',
    text: 'Your table is ready.',
    mediaUrl: 'https://shop.example/table.mp4',
    mediaType: 'video',
    reply: { inboundId: 'a'.repeat(24), toId: 'b'.repeat(22) },
  };
  const [sample] = fc.sample(fullBody, { numRuns: 1, seed: 1 });
  assert.ok(sample);
  const bodyBefore: MessageBody = { ...sample, ...draft, shopId: 'c'.repeat(24), tenantId: 'd'.repeat(24) };
  const stored = encodeBody(withoutRecipient(bodyBefore));
  for (const [field, value] of Object.entries({ ...draft, ...draft.reply })) {
    if (typeof value !== 'string') continue;
    assert.ok(encodeBody(bodyBefore).includes(value), field);
    assert.ok(!stored.includes(value), field);
  }
  const { id, tenantId, shopId, kind, idempotencyKey } = bodyBefore;
  const read = decodeMessage(id, [stored, null])?.body;
  assert.deepEqual(
    [read?.tenantId, read?.shopId, read?.kind, read?.idempotencyKey],
    [tenantId, shopId, kind, idempotencyKey],
  );
});
