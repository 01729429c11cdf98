import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { BaileysHost } from '../../../../actors/sessions/main-thread/baileys-host.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Write } from '../../../../runtime/store.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { HOST_SETTINGS } from '../host-settings.ts';
import { MemoryStore } from '../memory-store.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';

const PERSON = '+33622222222';
const STRANGER = '+33644444444';

const stepsRatchet = (writes: readonly Write[]): boolean =>
  writes.some((write) => write.some((part) => typeof part === 'string' && part.startsWith('session/')));

test('a worker lost before a ciphertext was made leaves the message unsent, safe to send again', async (context) => {
  const { network, shop } = await pairedShop(context);
  const asked = new Promise<void>((resolve) => {
    network.store.beforeRead = () => {
      resolve();
      return new Promise(() => undefined);
    };
  });
  network.host.order(shop, { type: 'prepare', order: textOrder('not yet', { deadlineMs: 30_000 }) });
  await asked;
  await network.loseWorker(shop);
  assert.deepEqual((await network.log.next(shop, 'session.send_outcome')).outcome, { kind: 'unprepared' });
  await network.log.next(shop, 'session.worker_lost');
  const { ends, workersLost } = network.host.figures();
  assert.deepEqual([ends.get('worker_lost'), workersLost], [1, 1]);
  assert.ok(network.logged.some((line) => line.endsWith('a session worker was lost')));
  network.store.beforeRead = () => undefined;
  await until('a worker is ready', async () => network.host.isAvailable());
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  assert.deepEqual(await network.received(shop, PERSON), []);
});

test('a send recalled while its attachment is fetched is given up without a report, and one on its way continues', async (context) => {
  const { network, shop, host, log } = await pairedShop(context);
  const waitingResponses: ServerResponse[] = [];
  const files = createServer((_request, reply) => void waitingResponses.push(reply));
  const port = await listening(files);
  context.after(() => {
    for (const reply of waitingResponses) reply.destroy();
    files.close();
  });
  const mediaUrl = `http://127.0.0.1:${port}/slow.png`;
  const slow = textOrder('slow', { mediaUrl, mediaType: 'image', deadlineMs: 15_000 });
  const asked = once(files, 'request');
  host.order(shop, { type: 'prepare', order: slow });
  await asked;
  const [reply] = waitingResponses;
  assert.ok(reply);
  const givenUp = once(reply, 'close');
  host.order(shop, { type: 'recall', messageId: slow.messageId });
  await givenUp;
  const order = textOrder('on its way', { deadlineMs: 15_000 });
  network.actor.releases = false;
  host.order(shop, { type: 'prepare', order });
  const { writes } = await log.next(shop, 'session.prepared');
  await network.store.commit(shop.shard, writes);
  host.order(shop, { type: 'transmit', messageId: order.messageId });
  host.order(shop, { type: 'recall', messageId: order.messageId });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, PERSON), ['on its way']);
  assert.equal(log.all(shop, 'session.send_outcome').length, 1);
});

test('a send that is not released by its deadline is given back, the socket ended, and nothing leaves afterwards', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.host.order(shop, { type: 'prepare', order: textOrder('first') });
  await network.log.next(shop, 'session.send_outcome');
  const writes = network.store.holdCommits(stepsRatchet);
  network.host.order(shop, { type: 'prepare', order: textOrder('stuck', { deadlineMs: 3_000 }) });
  assert.deepEqual((await network.log.next(shop, 'session.send_outcome')).outcome, { kind: 'not_sent' });
  writes.release();
  const closed = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 2);
  assert.equal(closed.end, 'transient');
  network.store.beforeCommit = () => undefined;
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  network.host.order(shop, { type: 'prepare', order: textOrder('next') });
  assert.deepEqual((await network.log.next(shop, 'session.send_outcome')).outcome, {
    kind: 'acknowledged',
  });
  assert.deepEqual(await network.received(shop, PERSON), ['first', 'next']);
});

test('a session reopened at once reads the last writes of the one before it', async (context) => {
  const { network, shop, host, log, outcomeOf } = await pairedShop(context);
  for (let generation = 3; generation < 13; generation += 1) {
    assert.equal((await outcomeOf(textOrder(`before ${generation}`))).kind, 'acknowledged');
    if (generation % 2 === 0) host.close(shop);
    host.open(shop, { generation });
    await log.next(shop, 'session.connected', (event) => event.generation === generation);
  }
  const texts = await network.received(shop, PERSON);
  assert.equal(new Set(texts).size, 10, 'every one could be read, none twice');
});

for (const [how, orders] of [
  ['closed and opened', ['close', 'open']],
  ['opened again, closed and opened', ['open', 'close', 'open']],
] as const) {
  test(`a session that is ${how} opens only when the last write of the first one has been answered`, async (context) => {
    const { shop, host, log, store } = await pairedShop(context);
    const writes = store.holdCommits(stepsRatchet);
    host.order(shop, { type: 'prepare', order: textOrder('caught') });
    await writes.caught;
    let identityReads = 0;
    store.beforeRead = (reads) => {
      const isIdentity = reads.some((read) => read[1].includes(shop.shopId) && read.includes('creds'));
      if (isIdentity) identityReads += 1;
    };
    for (const [index, order] of orders.entries()) {
      if (order === 'close') host.close(shop);
      else host.open(shop, { generation: 3 + index });
    }
    await log.next(shop, 'session.send_outcome');
    // The session of another shop was opened later. It reads its credentials and shows a code meanwhile.
    const otherAddress = newShop();
    host.open(otherAddress, { generation: 1 });
    await log.next(otherAddress, 'session.qr');
    assert.equal(identityReads, 0);
    writes.release();
    await log.next(shop, 'session.connected', ({ generation }) => generation === 2 + orders.length);
    assert.equal(identityReads, 1);
  });
}

test('a write that a session still had when its wait was over is never written', async (context) => {
  const { network, shop, host, log, store, control } = await pairedShop(context, { timing: { drainMs: 50 } });
  const ratchetSteps = (): number => store.commits.filter(stepsRatchet).length;
  const stepsOf = async (text: string): Promise<number> => {
    const before = ratchetSteps();
    host.order(shop, { type: 'prepare', order: textOrder(text) });
    await log.next(shop, 'session.send_outcome', ({ outcome }) => outcome.kind === 'acknowledged');
    return ratchetSteps() - before;
  };
  await stepsOf('first');
  // An inbound message steps a ratchet. A message is sealed meanwhile, and its steps wait for that write.
  const writes = store.holdCommits(stepsRatchet);
  await control.write(STRANGER, { to: SHOP_PHONE, text: 'hello', wait: false });
  const inbound = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'confirm', token: inbound.token });
  await writes.caught;
  const before = ratchetSteps();
  host.order(shop, { type: 'prepare', order: textOrder('left behind') });
  host.open(shop, { generation: 3 });
  // The inbound message comes again, because its step was not stored.
  const again = await log.next(shop, 'session.inbound', ({ generation }) => generation === 3);
  host.order(shop, { type: 'confirm', token: again.token });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  writes.release();
  await until('both steps are stored', async () => ratchetSteps() === before + 2);
  const steps = await stepsOf('second');
  assert.equal(await stepsOf('third'), steps);
  assert.equal(ratchetSteps(), before + 2 + 2 * steps);
  assert.deepEqual(await network.received(shop, PERSON), ['first', 'second', 'third']);
});

test('an optional write that still waits behind another when its session stops waiting is never written', async (context) => {
  const { network, shop, host, log, store, control } = await pairedShop(context, { timing: { drainMs: 50 } });
  const acquaintance = '+33655555555';
  const tellsOfAcquaintance = (writes: readonly Write[]): boolean =>
    writes.some((write) => write.includes(`lid-mapping/${acquaintance.slice(1)}`));
  host.order(shop, { type: 'prepare', order: textOrder('first') });
  await log.next(shop, 'session.send_outcome');
  const countBefore = store.commits.filter(stepsRatchet).length;
  // A ratchet's step is being stored. The data about a person's account waits for that write.
  const writes = store.holdCommits(stepsRatchet);
  await control.write(STRANGER, { to: SHOP_PHONE, text: 'hello', wait: false });
  const inbound = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'confirm', token: inbound.token });
  await writes.caught;
  network.actor.releases = false;
  await control.setNumber('+33699999999', false);
  host.order(shop, {
    type: 'prepare',
    order: textOrder('never sent', { to: acquaintance, knownAs: STRANGER }),
  });
  await log.next(shop, 'session.recipient_known');
  // The network reports the contact's identity next, before it answers a later query.
  host.order(shop, { type: 'prepare', order: textOrder('to nobody', { to: '+33699999999' }) });
  await log.next(shop, 'session.send_outcome', ({ outcome }) => outcome.kind === 'not_on_network');
  host.open(shop, { generation: 3 });
  const again = await log.next(shop, 'session.inbound', ({ generation }) => generation === 3);
  host.order(shop, { type: 'confirm', token: again.token });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  writes.release();
  await until(
    'the steps are stored',
    async () => store.commits.filter(stepsRatchet).length >= countBefore + 2,
  );
  host.order(shop, { type: 'prepare', order: textOrder('after that') });
  await log.next(shop, 'session.send_outcome');
  assert.deepEqual(store.commits.filter(tellsOfAcquaintance), []);
});

test('erasing unlinks the device on the network and leaves nothing in the store', async (context) => {
  const { network, shop } = await pairedShop(context);
  network.host.order(shop, { type: 'prepare', order: textOrder('one') });
  await network.log.next(shop, 'session.send_outcome');
  assert.equal((await network.control.sessions()).items.length, 1);
  await network.host.erase(shop);
  assert.equal((await network.control.sessions()).items.length, 0);
  assert.equal(network.store.hashes.size, 0);
  assert.equal(network.host.describe(shop), undefined);
});

test('a second call to erase a session is answered too, when its last write has been answered', async (context) => {
  const { network, shop, host, store } = await pairedShop(context);
  const writes = store.holdCommits(stepsRatchet);
  host.order(shop, { type: 'prepare', order: textOrder('caught') });
  await writes.caught;
  let erased = 0;
  const erasures = [1, 2, 3].map(() => host.erase(shop).then(() => (erased += 1)));
  const otherAddress = newShop();
  host.open(otherAddress, { generation: 1 });
  await network.log.next(otherAddress, 'session.qr');
  assert.equal(erased, 0);
  writes.release();
  await Promise.all(erasures);
  assert.equal(host.describe(shop), undefined);
});

test('many shops share a worker, each with its own identity, and the end of one does not affect another', async (context) => {
  const network = await simulatedNetwork(context, { workers: 2 });
  const shops = Array.from({ length: 12 }, () => newShop());
  const { host, log, control } = network;
  const phoneOf = (index: number): string => `+3364444440${index}`;
  await Promise.all(
    shops.map(async (shop, index) => {
      host.open(shop, { generation: 1 });
      const { qr } = await log.next(shop, 'session.qr');
      await control.scan(qr, phoneOf(index + 10));
      await log.next(shop, 'session.closed');
      host.open(shop, { generation: 2 });
      await log.next(shop, 'session.connected');
      // All shops write to one person, because libsignal has one queue for a person, also across shops.
      host.order(shop, { type: 'prepare', order: textOrder(`from ${index}`, { deadlineMs: 15_000 }) });
      assert.equal((await log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
    }),
  );
  assert.equal((await control.inbox(PERSON)).items.length, 12);
  await control.fault(phoneOf(10), 'drop');
  await log.next(shops[0] as (typeof shops)[number], 'session.closed', ({ generation }) => generation === 2);
  assert.equal((await control.sessions()).items.filter(({ connected }) => connected).length, 11);
});

test('a simulated network that is not on loopback is refused', () => {
  const quiet = (): void => undefined;
  const options = {
    store: new MemoryStore(),
    clock: systemClock,
    random: () => 0.5,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    listener: quiet,
    credentialsKeys: [randomBytes(32)],
    socketUrl: 'wss://web.whatsapp.com/ws/chat',
    ...HOST_SETTINGS,
    media: { allowLoopback: false, deniedRanges: [], nameServers: [] },
  };
  assert.throws(() => new BaileysHost({ ...options, noiseRootKey: randomBytes(32) }), /on loopback/);
  assert.throws(() => new BaileysHost({ ...options, media: HOST_SETTINGS.media }), /on loopback/);
  assert.throws(
    () =>
      new BaileysHost({ ...options, socketUrl: 'ws://127.0.0.1.evil.test/', noiseRootKey: randomBytes(32) }),
    /on loopback/,
  );
});
