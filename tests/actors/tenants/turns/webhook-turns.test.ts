/** The writes of a change of an endpoint. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shopErased } from '../../../../actors/tenants/turns/erasure-turns.ts';
import {
  activateWebhooks,
  changeWebhook,
  deleteWebhook,
} from '../../../../actors/tenants/turns/webhook-turns.ts';
import { firstProgress, forgiveFailures } from '../../../../actors/webhooks/progress.ts';
import { resealWebhook, secretUse } from '../../../../actors/webhooks/webhook-secrets.ts';
import { textCipher } from '../../../../runtime/text-cipher.ts';
import { goldenTenant, readGolden } from '../../golden/golden-store.ts';
import { webhookRecord } from '../../webhooks/endpoint-world.ts';

const NOW_MS = 1_800_000_000_000;

async function tenantWith(record: Parameters<typeof webhookRecord>[0]) {
  const webhook = webhookRecord({ id: 'hook', enabledAtMs: NOW_MS, ...record });
  return {
    webhook,
    state: { ...(await goldenTenant(readGolden(1))), webhooks: new Map([['hook', webhook]]) },
  };
}

test('an endpoint that is enabled again starts without failures, and one that is only renamed does not', async () => {
  const { webhook, state } = await tenantWith({ disabled: { atMs: NOW_MS, why: 'failing' } });
  const progress = { ...firstProgress(webhook), failingSinceMs: NOW_MS };
  const failingSince = (changes: Parameters<typeof changeWebhook>[1]['changes']) => {
    // The clock repeats the moment in which it was enabled before.
    const changedState = changeWebhook(state, { webhookId: 'hook', changes }, { nowMs: NOW_MS }).state;
    return forgiveFailures(progress, changedState?.webhooks.get('hook') ?? webhook).failingSinceMs;
  };
  assert.deepEqual([failingSince({ disabled: null }), failingSince({ types: [] })], [null, NOW_MS]);
});

test('an endpoint whose secret a key opens again starts without failures, even if the clock stepped back', async () => {
  const cipher = textCipher([Buffer.alloc(32, 1)], 'webhooks');
  const { webhook, state } = await tenantWith({
    secret: cipher.seal(secretUse('tenant', 'hook'), 'whsec_'),
    disabled: { atMs: NOW_MS, why: 'unreadable' },
  });
  const progress = { ...firstProgress(webhook), failingSinceMs: NOW_MS };
  for (const nowMs of [NOW_MS, NOW_MS - 1]) {
    const activated = activateWebhooks(state, (each) => resealWebhook('tenant', each, { cipher, nowMs }));
    const enabled = activated.state.webhooks.get('hook') ?? webhook;
    assert.deepEqual([enabled.disabled, enabled.enabledAtMs], [null, NOW_MS + 1]);
    assert.equal(forgiveFailures(progress, enabled).failingSinceMs, null);
  }
});

test('a deleted endpoint leaves neither its record nor its progress', async () => {
  const { state } = await tenantWith({});
  const { webhooks, webhookProgress } = state.keys;
  assert.deepEqual(deleteWebhook(state, 'hook').writes, [
    ['HDEL', webhooks, 'hook'],
    ['HDEL', webhookProgress, 'hook'],
  ]);
});

test('an erased shop leaves the lists of endpoints, and the last one leaves an empty list, not all shops', async () => {
  const { webhook, state } = await tenantWith({ shops: ['left', 'erased'] });
  const only = { ...webhook, id: 'only', shops: ['erased'] };
  const all = { ...webhook, id: 'all', shops: null };
  const webhooks = new Map([webhook, only, all].map((webhook) => [webhook.id, webhook]));
  const changedTurn = shopErased({ ...state, webhooks, erasing: new Set(['erased']) }, 'erased');
  const kept = [
    { ...webhook, shops: ['left'] },
    { ...only, shops: [] },
  ];
  assert.deepEqual([...(changedTurn.state?.webhooks.values() ?? [])], [...kept, all]);
  assert.deepEqual(changedTurn.writes, [
    ['SREM', state.keys.erasing, 'erased'],
    ['HSET', state.keys.webhooks, ...kept.flatMap((each) => [each.id, JSON.stringify(each)])],
  ]);
  assert.deepEqual(
    changedTurn.effects?.map((effect) => effect.type === 'webhooks_changed' && [...effect.webhooks.keys()]),
    [['hook', 'only', 'all']],
  );
  assert.deepEqual(shopErased(state, 'other').effects, [], 'no endpoint named it');
});

test('an activation removes shops that an earlier version erased, and leaves those of an unfinished erasure', async () => {
  const { webhook, state } = await tenantWith({});
  const [shopId = ''] = state.shops.keys();
  const named = { ...webhook, shops: [shopId, 'gone', 'unfinished'] };
  const disabled = { atMs: NOW_MS, why: 'unreadable' } as const;
  const only = { ...webhook, id: 'only', shops: ['gone'], disabled };
  const same = { ...webhook, id: 'same', shops: [shopId] };
  const webhooks = new Map([named, only, same].map((each) => [each.id, each]));
  const erasing = new Set(['unfinished']);
  const { writes, effects, ...changed } = activateWebhooks(
    { ...state, webhooks, erasing },
    (webhook) => webhook,
  );
  const kept = [
    { ...named, shops: [shopId, 'unfinished'] },
    { ...only, shops: [] },
  ];
  assert.deepEqual([...changed.state.webhooks.values()], [...kept, same]);
  assert.deepEqual(writes, [
    ['HSET', state.keys.webhooks, ...kept.flatMap((each) => [each.id, JSON.stringify(each)])],
  ]);
  assert.deepEqual(
    effects.map(({ type }) => type),
    ['webhooks_changed'],
    'none was disabled now',
  );
});
