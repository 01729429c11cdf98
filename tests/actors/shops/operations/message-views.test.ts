import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageViews } from '../../../../actors/shops/operations/message-views.ts';

const tenantId = 'a'.repeat(24);
const body = (text: string): string =>
  JSON.stringify({
    id: 'b'.repeat(24),
    tenantId,
    shopId: 'c'.repeat(24),
    kind: 'message',
    to: '+41790000001',
    text,
    mediaUrl: null,
    mediaType: null,
    via: 'shop',
    policy: null,
    createdAtMs: 1_700_000_000_000,
    wireId: 'W',
    idempotencyKey: null,
    requestId: null,
    traceparent: null,
  });
const sent = JSON.stringify({
  status: 'sent',
  reason: null,
  updatedAtMs: 1_700_000_001_000,
  sentAtMs: 1_700_000_001_000,
});

describe('remembered views of messages', () => {
  it('one object while nothing changes, another once the state or the body does', () => {
    const views = new MessageViews();
    const fields = [body('x'), null];
    const first = views.of('m', fields);
    assert.equal(first?.view.status, 'queued');
    assert.equal(first.tenantId, tenantId);
    assert.equal(views.of('m', fields)?.view, first.view);
    const later = views.of('m', [body('x'), sent]);
    assert.equal(later?.view.status, 'sent');
    assert.equal(views.of('m', [body('y'), sent])?.view.text, 'y');
  });

  it('a removed message is gone, and may come back', () => {
    const views = new MessageViews();
    views.of('m', [body('x'), null]);
    assert.equal(views.of('m', [null, null]), undefined);
    assert.equal(views.of('m', [body('z'), null])?.view.text, 'z');
  });

  it('the ten-thousandth message is read as the first was', () => {
    const views = new MessageViews();
    for (let number = 0; number < 10_000; number += 1) {
      assert.equal(views.of(`m${number}`, [body(String(number)), null])?.view.text, String(number));
    }
    assert.equal(views.of('m0', [body('0'), sent])?.view.status, 'sent');
  });

  it('the number of cached views is limited: the oldest is dropped', () => {
    const views = new MessageViews();
    const oldest = [body('0'), null];
    const first = views.of('m0', oldest);
    const last = 10_000;
    for (let number = 1; number <= last; number += 1) views.of(`m${number}`, [body(String(number)), null]);
    const fields = [body('newest'), null];
    assert.equal(views.of('newest', fields)?.view, views.of('newest', fields)?.view);
    assert.notEqual(views.of('m0', oldest)?.view, first?.view);
  });
});
