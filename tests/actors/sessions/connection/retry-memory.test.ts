import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageRetryManager } from '@whiskeysockets/baileys';
import { shrinkRetryMemory } from '../../../../actors/sessions/worker-thread/connection/client-memory.ts';
import { quietLogger } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';

const KEY = Uint8Array.of(1, 2, 3);

test('the client keeps the replacements of its own caches, under their names', () => {
  const names = Object.keys(new MessageRetryManager(quietLogger, 5));
  assert.ok(names.includes('baseKeys') && names.includes('recentMessagesMap'), names.join());
});

test('keys are remembered and given up as before, and no message is kept', () => {
  const manager = new MessageRetryManager(quietLogger, 5);
  shrinkRetryMemory(manager);
  manager.saveBaseKey('33.0', 'A', KEY);
  assert.equal(manager.hasSameBaseKey('33.0', 'A', KEY), true);
  assert.equal(manager.hasSameBaseKey('33.0', 'B', KEY), false);
  manager.deleteBaseKey('33.0', 'A');
  assert.equal(manager.hasSameBaseKey('33.0', 'A', KEY), false);
  manager.addRecentMessage('33@lid', 'A', { conversation: 'hello' });
  assert.equal(manager.getRecentMessage('33@lid', 'A'), undefined);
  manager.markRetrySuccess('A');
  manager.clear();
});
