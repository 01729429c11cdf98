import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebhookPump, type WebhookPumpOptions } from '../../../actors/webhooks/webhook-pump.ts';
import { FakeClock } from '../../runtime/fake-clock.ts';
import { LineLog } from '../../runtime/line-log.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { webhookRecord } from './endpoint-world.ts';

const EVENTS = [{ streamId: '1-0', shopId: 's' }];

test('a replay while the node stops is left to the next owner, and the endpoint is not called disabled', async () => {
  const pump = new WebhookPump(
    fakeOf<WebhookPumpOptions>({
      clock: new FakeClock(),
      random: () => 0.5,
      log: new LineLog(),
      store: fakeOf({ read: (async (reads: readonly unknown[]) => reads.map(() => [])) as never }),
      actors: fakeOf({ ask: (async () => ({ ok: true, value: true })) as never }),
    }),
  );
  pump.sync('t', new Map([['hook', webhookRecord({ id: 'hook' })]]), Symbol());
  assert.equal(await pump.replay('t', 'other', EVENTS), 'disabled');
  assert.equal(await pump.replay('t', 'hook', EVENTS), 'replayed');
  await pump.settle();
  await assert.rejects(pump.replay('t', 'hook', EVENTS), { code: 'SHARD_NOT_OWNED' });
});
