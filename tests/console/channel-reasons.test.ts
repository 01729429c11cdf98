import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHANNEL_REASONS } from '../../actors/channel-reason.ts';
import { root } from '../testbed/root.ts';

test('the dialog that connects a shop has words for each reason why there is no session', () => {
  const dialog = readFileSync(join(root, 'http/console/app/dialogs/connect-dialog.js'), 'utf8');
  const reasons = /const REASONS = [^{]*\{[^{]*\{([^}]*)\}/.exec(dialog)?.[1] ?? '';
  const worded = [...reasons.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name);
  assert.deepEqual(worded.toSorted(), CHANNEL_REASONS.toSorted());
});
