import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRequestCursor } from '../../../http/request-log/request-log-cursor.ts';

test('the request log knows its own cursors', () => {
  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  assert.ok(isRequestCursor(cursor(1, 0, 'nobody', 0)));
  for (const parts of [[-1, 0, 'nobody', 0], [1, -1, 'nobody', 0], [1, 0.5, 'nobody', 0], [1, 0, 2, 0], []])
    assert.ok(!isRequestCursor(cursor(...parts)), JSON.stringify(parts));
  assert.ok(!isRequestCursor('null'));
});
