import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Write } from '../../../../runtime/store.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';

/** Returns a check for writes that step a ratchet with a person. Those for the shop's own phone come at any time. */
async function stepsWithPeople(network: SimulatedNetwork): Promise<(writes: readonly Write[]) => boolean> {
  const [own] = (await network.control.sessions()).items;
  const ownUser = own?.lid.split(/[:@]/)[0] ?? '';
  return (writes) =>
    writes.some((write) =>
      write.some(
        (part) =>
          typeof part === 'string' && part.startsWith('session/') && !part.startsWith(`session/${ownUser}`),
      ),
    );
}

test('an inbound message that is not committed in time is delivered again, under the same wire id', async (context) => {
  const { shop, host, log, control } = await pairedShop(context, { timing: { confirmMs: 300 } });
  await control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  const first = await log.next(shop, 'session.inbound');
  const closed = await log.next(shop, 'session.closed', ({ generation }) => generation === 2);
  assert.equal(closed.end, 'transient');
  host.open(shop, { generation: 3 });
  const again = await log.next(shop, 'session.inbound', ({ generation }) => generation === 3);
  assert.equal(again.wireId, first.wireId);
  assert.equal(again.text, 'STOP');
  host.order(shop, { type: 'confirm', token: again.token });
});

test('a kill between the commit of a message and the step of its ratchet: the message comes again, readable', async (context) => {
  const { network, shop } = await pairedShop(context);
  const isStep = await stepsWithPeople(network);
  network.store.beforeCommit = (writes) => {
    if (!isStep(writes)) return;
    network.store.beforeCommit = () => undefined;
    void network.loseWorker(shop);
    throw new Error('killed');
  };
  await network.control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  const first = await network.log.next(shop, 'session.inbound');
  network.host.order(shop, { type: 'confirm', token: first.token });
  await network.log.next(shop, 'session.worker_lost');
  await until('a worker is ready', async () => network.host.isAvailable());
  network.host.open(shop, { generation: 3 });
  const again = await network.log.next(shop, 'session.inbound', ({ generation }) => generation === 3);
  assert.deepEqual([again.wireId, again.text], [first.wireId, 'STOP']);
  network.host.order(shop, { type: 'confirm', token: again.token });
  const next = network.write(shop, PERSON, 'and then');
  const after = await network.log.next(shop, 'session.inbound');
  assert.equal(after.text, 'and then');
  network.host.order(shop, { type: 'confirm', token: after.token });
  assert.equal(await next, true);
});

test('a kill between the step of the ratchet and the receipt: the repeated message is acknowledged, and later ones are read', async (context) => {
  const { network, shop } = await pairedShop(context);
  const isStep = await stepsWithPeople(network);
  let killed = false;
  const commit = network.store.commit.bind(network.store);
  network.store.commit = async (shard, writes) => {
    await commit(shard, writes);
    const stepsRatchet = isStep(writes);
    if (!stepsRatchet || killed) return;
    killed = true;
    await network.loseWorker(shop);
  };
  await network.control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  const first = await network.log.next(shop, 'session.inbound');
  network.host.order(shop, { type: 'confirm', token: first.token });
  await network.log.next(shop, 'session.worker_lost');
  await until('a worker is ready', async () => network.host.isAvailable());
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  const next = network.write(shop, PERSON, 'and then');
  const after = await network.log.next(shop, 'session.inbound', ({ generation }) => generation === 3);
  assert.equal(after.text, 'and then', 'the first one is not told again');
  network.host.order(shop, { type: 'confirm', token: after.token });
  assert.equal(await next, true);
});

test('a ciphertext leaves only when the step of its ratchet is stored', async (context) => {
  const { network, shop } = await pairedShop(context);
  const isStep = await stepsWithPeople(network);
  await network.log.next(shop, 'session.groups');
  const steps = network.store.holdCommits(isStep);
  network.host.order(shop, { type: 'prepare', order: textOrder('held back', { deadlineMs: 10_000 }) });
  await steps.caught;
  // A stanza that had left would arrive before the answer to this query.
  network.host.order(shop, { type: 'refresh_groups' });
  await network.log.next(shop, 'session.groups');
  assert.deepEqual(await network.received(shop, PERSON), []);
  steps.release();
  assert.deepEqual((await network.log.next(shop, 'session.send_outcome')).outcome, {
    kind: 'acknowledged',
  });
  assert.deepEqual(await network.received(shop, PERSON), ['held back']);
});

test('a store that cannot be written ends the session, and the message is not sent', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.store.beforeCommit = () => {
    throw new Error('the shard is another node’s');
  };
  network.host.order(shop, { type: 'prepare', order: textOrder('never') });
  const { outcome } = await network.log.next(shop, 'session.send_outcome');
  assert.ok(outcome.kind === 'not_sent' || outcome.kind === 'unknown', outcome.kind);
  const closed = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 2);
  assert.equal(closed.end, 'transient');
  assert.deepEqual(await network.received(shop, PERSON), []);
});

test('people addressed by the network’s own ids are reported by their numbers; groups and reactions are not inbound', async (context) => {
  const network = await simulatedNetwork(context);
  const shop = newShop();
  const { host, log, control } = network;
  const group = '120363000000000011@g.us';
  await control.setGroup(group, { name: 'G', participants: [SHOP_PHONE, PERSON], admins: [SHOP_PHONE] });
  await pair(network, shop);
  for (const addressing of ['lid', 'pn'] as const) {
    const written = control.write(PERSON, { to: SHOP_PHONE, text: addressing, addressing });
    const inbound = await log.next(shop, 'session.inbound');
    assert.deepEqual([inbound.from, inbound.text], [PERSON, addressing]);
    host.order(shop, { type: 'confirm', token: inbound.token });
    assert.equal((await written).delivered, true);
  }
  assert.equal((await control.write(PERSON, { to: group, text: 'STOP' })).delivered, true);
  assert.equal(log.all(shop, 'session.inbound').length, 2);
});
