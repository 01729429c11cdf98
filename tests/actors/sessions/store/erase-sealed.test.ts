/** Checks what is left of a shop's sealed hashes once it is erased. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eraseSealed, writesOf } from '../../../../actors/sessions/main-thread/credential-store.ts';
import { SentMessages } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import type { FieldChange } from '../../../../actors/sessions/worker-thread/store/sealed-store.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { newShop } from '../conformance-network.ts';
import { MemoryStore } from '../memory-store.ts';

test('erasing a shop’s sealed data leaves no sent message of any day', async () => {
  const shop = newShop();
  const clock = new FakeClock();
  const store = new MemoryStore();
  const written = new Set<unknown>();
  const write = async ({ hash }: FieldChange): Promise<void> => {
    const change = { hash, clears: false, set: [['3EB0', Buffer.from('x')] as const], remove: [] };
    for (const [, key] of writesOf(shop, change)) written.add(key);
  };
  const sentMessages = new SentMessages({ write, find: async () => undefined }, clock);
  for (let day = 0; day < 20; day += 1) {
    await sentMessages.remember(`3EB0${day}`, { chat: '100@lid', message: { conversation: 'hello' } });
    await clock.advance(DAY_MS);
  }
  assert.ok(written.size > 7, String(written.size));
  await eraseSealed(store, shop);
  for (const [, key] of store.commits.at(-1) ?? []) written.delete(key);
  assert.deepEqual([...written], []);
});
