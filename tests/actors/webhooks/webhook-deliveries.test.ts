import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredEvent } from '../../../actors/tenants/stored-events/tenant-event.ts';
import {
  type WebhookDeliveriesOptions,
  webhookDeliveries,
} from '../../../actors/webhooks/webhook-deliveries.ts';
import type { Read } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { webhookRecord } from './endpoint-world.ts';

const [WANTED, OTHER] = ['66b1f0a2c3d4e5f60718293b', '66b1f0a2c3d4e5f60718293c'];

test('a replay from a moment on sends the first 200 events that the webhook is to get, in order', async () => {
  // Every third event is of the webhook's shop.
  const stream = Array.from({ length: 1_000 }, (_, index) => {
    const shopId = index % 3 === 0 ? WANTED : OTHER;
    return [`${1_000 + index}-0`, ['t', 'queue.paused', 's', shopId, 'd', '{}']] as const;
  });
  const place = (id: unknown): number => Number.parseInt(String(id).replace('(', ''), 10);
  const read = async (reads: readonly Read[]): Promise<unknown[]> => {
    const [command = []] = reads as readonly (readonly unknown[])[];
    const [, , from, , , count] = command;
    const isAfter = String(from).startsWith('(');
    const rest = stream.filter(([id]) => (isAfter ? place(id) > place(from) : place(id) >= place(from)));
    return [rest.slice(0, Number(count))];
  };
  const webhook = webhookRecord({ shops: [WANTED] });
  let replayedEvents: readonly StoredEvent[] = [];
  const pump = {
    replay: async (_tenantId: string, _webhookId: string, events: readonly StoredEvent[]) => {
      replayedEvents = events;
      return 'replayed';
    },
  };
  const options = { store: { read }, clock: new FakeClock(), pump, makeId: () => '' };
  const { replay } = webhookDeliveries(options as unknown as WebhookDeliveriesOptions, {
    withWebhook: (_tenantId, _webhookId, answer) => answer(webhook, true),
    progressOf: () => assert.fail(),
  });
  assert.deepEqual(await replay('tenant', 'hook', { kind: 'since', sinceMs: 1_001 }), {
    ok: true,
    value: { replayed: 200 },
  });
  assert.deepEqual(
    replayedEvents.map(({ streamId }) => streamId),
    Array.from({ length: 200 }, (_, index) => `${1_003 + 3 * index}-0`),
  );
});
