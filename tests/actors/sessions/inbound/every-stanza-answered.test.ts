/**
 * A session answers each stanza that needs an answer. Otherwise the network ends the stream, or holds back the stanzas
 * that wait.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const CONTACT = '+33633333333';
const FIFTY_MINUTES = 50 * MINUTE_MS;

/** Resolves when the shop's client has answered every stanza and no stanza waits for it. */
async function untilAnswered({ control }: SimulatedNetwork): Promise<void> {
  await until('everything is answered', async () => {
    const { waiting, unacknowledged } = await control.unanswered(SHOP_PHONE);
    return waiting.length === 0 && unacknowledged.length === 0;
  });
}

/** Resolves when a person's text arrives. Until then it confirms all that people write, like the shop's actor. */
async function untilHeard(
  { host, log }: SimulatedNetwork,
  shop: SessionAddress,
  text: string,
): Promise<void> {
  let confirmed = 0;
  await until(`${text} is heard`, async () => {
    const heard = log.all(shop, 'session.inbound');
    for (const { token } of heard.slice(confirmed)) host.order(shop, { type: 'confirm', token });
    confirmed = heard.length;
    return heard.some((event) => event.text === text);
  });
}

test('statuses in both forms, newsletters and stanzas of unknown classes are answered, and the session stays open', async (context) => {
  const { network, shop, control, log } = await pairedShop(context);
  for (const kind of ['status', 'status_message'] as const) {
    for (const readable of [true, false]) await control.arrive(SHOP_PHONE, { kind, from: CONTACT, readable });
  }
  await control.arrive(SHOP_PHONE, { kind: 'newsletter' });
  await control.arrive(SHOP_PHONE, { kind: 'appdata' });
  await untilAnswered(network);
  await control.forward(FIFTY_MINUTES);
  const written = network.write(shop, PERSON, 'STOP');
  const { token, text } = await log.next(shop, 'session.inbound');
  network.host.order(shop, { type: 'confirm', token });
  assert.equal(text, 'STOP');
  assert.equal(await written, true);
  assert.equal(log.all(shop, 'session.inbound').length, 1, 'nothing else is told');
  assert.deepEqual(
    log.all(shop, 'session.closed').map(({ end }) => end),
    ['restart_required'],
  );
});

test('a message that was read is acknowledged with its receipt once it is committed, and not before', async (context) => {
  const { network, shop, control, host, log } = await pairedShop(context, {
    timing: { confirmMs: MINUTE_MS },
  });
  const written = network.write(shop, PERSON, 'Bonjour');
  const { token, wireId } = await log.next(shop, 'session.inbound');
  const { waiting, unacknowledged } = await control.unanswered(SHOP_PHONE);
  for (const owed of [waiting, unacknowledged]) assert.ok(owed.some(({ id }) => id === wireId));
  host.order(shop, { type: 'confirm', token });
  assert.equal(await written, true);
  await untilAnswered(network);
});

test('a STOP after 250 waiting stanzas, with unreadable statuses among them, is received at login', async (context) => {
  const { network, shop, control, host, log } = await pairedShop(context);
  host.close(shop);
  await until('the session is gone', async () => (await control.sessions()).items[0]?.connected === false);
  await control.arrive(SHOP_PHONE, { kind: 'status_message', from: CONTACT, readable: false });
  for (let index = 0; index < 120; index += 1)
    await control.write(PERSON, { to: SHOP_PHONE, text: `Message ${index}`, wait: false });
  await control.arrive(SHOP_PHONE, { kind: 'status', from: CONTACT, readable: false, count: 60 });
  await control.arrive(SHOP_PHONE, { kind: 'status_message', from: CONTACT, readable: true, count: 70 });
  await control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  const before = { ...host.figures().offline };
  host.open(shop, { generation: 3 });
  await untilHeard(network, shop, 'STOP');
  await untilAnswered(network);
  const drained = () => host.figures().offline.drained - before.drained;
  await until('the end of what waited is counted', async () => drained() > 0);
  const announced = host.figures().offline.announced - before.announced;
  assert.equal(drained(), announced);
  // Some of the waiting stanzas are notifications of the network.
  assert.ok(announced >= 252, `${announced}`);
  assert.deepEqual(
    log.all(shop, 'session.inbound').map(({ text }) => text),
    [...Array.from({ length: 120 }, (_, index) => `Message ${index}`), 'STOP'],
    'each once, in order',
  );
});
