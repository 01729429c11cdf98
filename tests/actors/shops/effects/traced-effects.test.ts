import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracedEffects } from '../../../../actors/shops/effects/traced-effects.ts';
import type { ShopEffect } from '../../../../actors/shops/protocol/shop-effect.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { Tracing } from '../../../../runtime/tracing.ts';

const address = { shard: 0, kind: 'shop', id: 'of-a-test' };
const prepare = {
  type: 'prepare',
  order: {
    messageId: 'm',
    wireId: 'W',
    kind: 'message',
    to: '+33600000001',
    knownAs: undefined,
    text: 'a text',
    mediaUrl: undefined,
    mediaType: undefined,
    audience: undefined,
    deadlineMs: MINUTE_MS,
  },
} as const;
const transmit = { type: 'transmit', messageId: 'm' } as const;

test('each span ends, also of a message that is transmitted again', () => {
  const steps: string[] = [];
  let started = 0;
  const tracing: Tracing = {
    start(name) {
      started += 1;
      const span = `${name} ${started}`;
      steps.push(`start ${span}`);
      return { traceparent: span, end: () => void steps.push(`end ${span}`) };
    },
  };
  const perform = tracedEffects(() => undefined, tracing);
  const effects: readonly ShopEffect[] = [prepare, transmit, transmit, { type: 'recall', messageId: 'm' }];
  for (const effect of effects) perform(effect, address);
  assert.deepEqual(steps, [
    'start send 1',
    'start acknowledgement 2',
    'end acknowledgement 2',
    'start acknowledgement 3',
    'end acknowledgement 3',
    'end send 1',
  ]);
});
