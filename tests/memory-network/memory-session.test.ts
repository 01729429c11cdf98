/** Parts of the network in memory that the conformance suite cannot see: the waits that an end cancels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShop } from '../actors/sessions/conformance-network.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';

/** A shop whose session is open, and the events that its actor got since. */
async function opened() {
  const clock = new FakeClock();
  const told: string[] = [];
  const shop = newShop();
  const host = new MemorySessionHost({
    clock,
    listener: (_shop, event) => void told.push(event.type),
    behaviour: { paired: true, confirmMs: 10_000 },
  });
  host.open(shop, { generation: 1 });
  await clock.advance(10);
  told.length = 0;
  return { clock, told, shop, host };
}

test('an inbound message that is never confirmed in time gets no receipt and ends the session', async () => {
  const { clock, told, shop, host } = await opened();
  const receipt = host.inbound(shop, { from: '+33622222222', text: 'hello' });
  await clock.advance(9_999);
  assert.deepEqual(told, ['session.inbound']);
  await clock.advance(1);
  assert.equal(await receipt, false);
  assert.deepEqual(told, ['session.inbound', 'session.closed']);
});

test('a writer gets no receipt when the session ends first, and no second end follows', async () => {
  const { clock, told, shop, host } = await opened();
  const receipt = host.inbound(shop, { from: '+33622222222', text: 'hello' });
  host.drop(shop, 'transient');
  assert.equal(await receipt, false);
  await clock.advance(60_000);
  assert.deepEqual(told, ['session.inbound', 'session.closed']);
});

test('a session that is closed while it opens reports nothing any more', async () => {
  const { clock, told, shop, host } = await opened();
  host.open(shop, { generation: 2 });
  host.close(shop);
  await clock.advance(60_000);
  assert.deepEqual(told, []);
});
