import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contentOf,
  digestedContent,
  isSameContent,
  NO_CONTENT,
  NO_DRAFT,
} from '../../../actors/shops/message-content.ts';
import { withoutContent } from '../../../actors/shops/state/scheduled-sends.ts';

const draft = {
  ...NO_DRAFT,
  text: 'Ready',
  mediaUrl: 'https://shop.example/a.png',
  mediaType: 'video' as const,
};

test('two contents are equal only if all their fields are equal', () => {
  assert.ok(isSameContent(contentOf(draft), contentOf({ ...draft })));
  for (const other of [{ text: 'ready' }, { mediaUrl: undefined }, { mediaType: 'image' as const }])
    assert.ok(!isSameContent(contentOf(draft), contentOf({ ...draft, ...other })), JSON.stringify(other));
});

test('without an attachment, the type of the attachment is not compared', () => {
  const text = { ...NO_DRAFT, text: 'Ready' };
  const [image, video] = [
    contentOf({ ...text, mediaType: 'image' }),
    contentOf({ ...text, mediaType: 'video' }),
  ];
  assert.deepEqual(image, { ...NO_CONTENT, text: 'Ready' });
  assert.ok(isSameContent(image, video));
});

test('a digest of a content without a later field is the one that was stored before that field', () => {
  const first = ['Ready', 'https://shop.example/a.png', 'video'];
  assert.deepEqual(digestedContent(draft), first);
  assert.deepEqual(digestedContent({ ...draft, mediaUrl: undefined }), ['Ready', null, null]);
  assert.deepEqual(digestedContent({ ...draft, text: undefined }), [null, ...first.slice(1)]);
});

test('an ended scheduled send keeps no content', () => {
  const stored = {
    ...draft,
    to: '+41791234567',
    idempotencyKey: undefined,
    requestId: 'req_1',
    sendAtMs: 2,
    notAfterMs: 3,
    createdAtMs: 1,
  };
  const keptContent = contentOf(withoutContent(stored));
  assert.deepEqual(keptContent, NO_CONTENT);
});
