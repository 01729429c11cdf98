/** The stored forms of a webhook's progress and attempts: nodes of 0.2.0 read and write the same ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeAttempt,
  webhookIdOf,
  writeOfAttempt,
} from '../../../../actors/tenants/stored-webhooks/webhook-attempts.ts';
import {
  decodeProgress,
  writeOfProgress,
} from '../../../../actors/tenants/stored-webhooks/webhook-progress.ts';

const SHOP = '66b1f0a2c3d4e5f607182901';

test('a progress that 0.2.0 stored is read, and stored again under the same names', () => {
  const stored = {
    cursor: '5-0',
    dead: [`1-0 ${SHOP}`],
    failingSinceMs: null,
    heldUntilMs: 7,
    countedForMs: 1,
    retries: [{ place: '4-0', shopId: SHOP, dueAtMs: 9, tries: 3 }],
  };
  const progress = decodeProgress(JSON.stringify(stored));
  assert.deepEqual(progress.retries, [{ place: '4-0', shopId: SHOP, dueAtMs: 9, attemptCount: 3 }]);
  const [command, key, webhookId, text] = writeOfProgress('progress', 'hook', progress);
  assert.deepEqual([command, key, webhookId], ['HSET', 'progress', 'hook']);
  assert.deepEqual(JSON.parse(String(text)), stored);
});

test('the entry of an attempt has its webhook, its result and its shop, and is read back', () => {
  const attempt = {
    eventId: SHOP,
    type: 'queue.paused',
    atMs: 1,
    durationMs: 2,
    number: 3,
    status: 500,
    error: 'the endpoint answered 500',
    isDead: false,
  };
  const write = writeOfAttempt('attempts', 'hook', { ...attempt, shopId: SHOP });
  const fields = write.slice(-6).map(String);
  assert.deepEqual(fields, ['w', 'hook', 'a', JSON.stringify(attempt), 's', SHOP]);
  const entry = ['1-0', fields] as const;
  assert.deepEqual([webhookIdOf(entry), decodeAttempt(entry)], ['hook', attempt]);
});
