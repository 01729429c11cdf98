/** To look through an old account's keys takes a worker tens of milliseconds. So it does one account at a time. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { BaileysHostOptions } from '../../../../actors/sessions/main-thread/baileys-host-options.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE } from '../conformance-network.ts';
import { type SimulatedNetwork, startSimulated } from '../simulated-network.ts';

const OTHER_PHONE = '+33611111112';

interface HeldNetwork {
  readonly network: SimulatedNetwork;
  /** The sessions that have asked for the names of their keys. */
  readonly asked: () => number;
  /** Lets the store answer them from now on. */
  readonly release: () => void;
}

/** Starts a network whose store holds back the names of a session's keys. */
async function heldNetwork(
  context: TestContext,
  timing: BaileysHostOptions['timing'] = {},
): Promise<HeldNetwork> {
  const network = await startSimulated({ timing });
  const released = new AbortController();
  let asked = 0;
  network.store.beforeRead = async (reads) => {
    if (!reads.some(([command]) => command === 'HKEYS')) return;
    asked += 1;
    if (!released.signal.aborted) await once(released.signal, 'abort');
  };
  context.after(async () => {
    released.abort();
    await network.stop();
  });
  return { network, asked: () => asked, release: () => released.abort() };
}

test('the stored keys of one session of a worker are looked through at a time', async (context) => {
  const { network, asked, release } = await heldNetwork(context);
  await pair(network, newShop());
  const otherAddress = newShop();
  await pair(network, otherAddress, OTHER_PHONE);
  await until('the keys of one are looked through', async () => asked() > 0);
  // While a session looks through its keys, it stores no text. So exactly one of the two comes first.
  await network.control.write(SHOP_PHONE, { to: OTHER_PHONE, text: 'Open today?', wait: false });
  await until(
    'the other session asks for its keys, or hears the text',
    async () => asked() > 1 || network.log.all(otherAddress, 'session.inbound').length > 0,
  );
  assert.equal(asked(), 1, 'the other one waits');
  release();
  await until('the keys of both are looked through', async () => asked() === 2);
});

test('a session that waits for its store does not delay the check of another session’s keys', async (context) => {
  const { network, asked } = await heldNetwork(context, { lookThroughMs: 200 });
  await pair(network, newShop());
  await pair(network, newShop(), OTHER_PHONE);
  await until('the keys of both are looked through', async () => asked() === 2);
});
