import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
const sentText = JSON.stringify({
  status: 'sent',
  reason: null,
  updatedAtMs: 1_700_000_001_000,
  sentAtMs: 1_700_000_001_000,
});

describe('remembered views of messages', () => {
  test('one object while nothing changes, another once the state or the body does', () => {
    const views = new MessageViews();
    const fields = [body('x'), null];
    const first = views.viewOf('m', fields);
    assert.equal(first?.view.status, 'queued');
    assert.equal(first.tenantId, tenantId);
    assert.equal(views.viewOf('m', fields)?.view, first.view);
    const laterView = views.viewOf('m', [body('x'), sentText]);
    assert.equal(laterView?.view.status, 'sent');
    assert.equal(views.viewOf('m', [body('y'), sentText])?.view.text, 'y');
  });

  test('a removed message is gone, and may come back', () => {
    const views = new MessageViews();
    views.viewOf('m', [body('x'), null]);
    assert.equal(views.viewOf('m', [null, null]), undefined);
    assert.equal(views.viewOf('m', [body('z'), null])?.view.text, 'z');
  });

  test('the ten-thousandth message is read as the first was', () => {
    const views = new MessageViews();
    for (let number = 0; number < 10_000; number += 1)
      assert.equal(views.viewOf(`m${number}`, [body(String(number)), null])?.view.text, String(number));
    assert.equal(views.viewOf('m0', [body('0'), sentText])?.view.status, 'sent');
  });

  test('the number of cached views is limited: the oldest is dropped', () => {
    const views = new MessageViews();
    const oldest = [body('0'), null];
    const first = views.viewOf('m0', oldest);
    const last = 10_000;
    for (let number = 1; number <= last; number += 1)
      views.viewOf(`m${number}`, [body(String(number)), null]);
    const fields = [body('newest'), null];
    assert.equal(views.viewOf('newest', fields)?.view, views.viewOf('newest', fields)?.view);
    assert.notEqual(views.viewOf('m0', oldest)?.view, first?.view);
  });
});
