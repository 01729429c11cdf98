import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiAnswer } from '../e2e/stack/api-client.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import type { ChaosShop } from './chaos-shops.ts';
import { startTraffic } from './traffic.ts';

/** A shop whose calls are answered by the test. */
function shopOf(api: { get(): Promise<ApiAnswer>; post(): Promise<ApiAnswer> }): ChaosShop {
  const shop = { id: 'shop', tenantId: 'tenant', apiKey: 'key', phone: '+33611111111' };
  return { ...shop, api: api as unknown as ChaosShop['api'], freshRecipients: ['+33622222222'] };
}

const answered = (status: number): ApiAnswer => ({ status, data: {}, error: {} }) as unknown as ApiAnswer;
const once = { random: () => 0, messagesPerShop: 1, overMs: 0 };

for (const [title, sent] of [
  ['goes on', () => new Promise<ApiAnswer>(() => undefined)],
  ['fails too', async () => answered(500)],
] as const) {
  test(`a call that fails while a send ${title} fails the traffic, and nothing else`, async (context) => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    context.after(() => process.off('unhandledRejection', onUnhandled));
    const shop = shopOf({ get: async () => answered(503), post: sent });
    const { accepted } = startTraffic({} as Fleet, [shop], once);
    await assert.rejects(accepted, assert.AssertionError);
    await nextTurn();
    assert.deepEqual(unhandled, []);
  });
}
