/** In a chat whose messages disappear, the shop's messages carry the chat's timer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { readContent } from '../../../../actors/sessions/worker-thread/wire/read-content.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const GROUP = '120363000000000777@g.us';
const DAY = 86_400;
const WEEK = 7 * DAY;

const chatTimerIn = (message: proto.IMessage): number | undefined => readContent(message).timer;

const { EPHEMERAL_SETTING, REVOKE } = proto.Message.ProtocolMessage.Type;

test('the timer of a chat is read from the setting, and from what a phone writes', () => {
  const setting = (ephemeralExpiration: number | null): proto.IMessage => ({
    protocolMessage: { type: EPHEMERAL_SETTING, ephemeralExpiration },
  });
  assert.equal(chatTimerIn(setting(WEEK)), WEEK);
  assert.equal(chatTimerIn({ ephemeralMessage: { message: setting(WEEK) } }), WEEK);
  assert.equal(chatTimerIn(setting(0)), 0);
  assert.equal(chatTimerIn(setting(null)), 0);
  const contextInfo = { expiration: DAY };
  assert.equal(chatTimerIn({ extendedTextMessage: { text: 'Hello', contextInfo } }), DAY);
  assert.equal(chatTimerIn({ ephemeralMessage: { message: { imageMessage: { contextInfo } } } }), DAY);
  assert.equal(chatTimerIn({ conversation: 'Hello' }), 0);
  assert.equal(chatTimerIn({ imageMessage: { caption: 'Hello' } }), 0);
});

test('a timer with a value that no phone offers is ignored', () => {
  for (const expiration of [1, 3_599, 2 ** 32 - 1]) {
    assert.equal(
      chatTimerIn({ extendedTextMessage: { text: 'Hello', contextInfo: { expiration } } }),
      undefined,
    );
  }
});

test('reactions, votes, edits and deletions do not change the timer of a chat', () => {
  const key = { id: 'A' };
  for (const message of [
    { reactionMessage: { key, text: '👍' } },
    { pollUpdateMessage: {} },
    { protocolMessage: { key, type: REVOKE } },
    { editedMessage: { message: { protocolMessage: { key, editedMessage: { conversation: 'Hello' } } } } },
    { senderKeyDistributionMessage: {} },
    {},
  ])
    assert.equal(chatTimerIn(message), undefined, JSON.stringify(message));
});

test('a message to a person carries the timer of their last message, also after a restart, and none once it is off', async (context) => {
  let network = await simulatedNetwork(context);
  const shop = newShop();
  const expirations = async (): Promise<(number | null)[]> =>
    (await network.control.inbox(PERSON)).items.map(({ expiration }) => expiration);
  const writes = async (wrapped: 'none' | 'ephemeral'): Promise<void> => {
    await network.control.write(PERSON, { to: SHOP_PHONE, text: `Hello, ${wrapped}`, wrapped, wait: false });
    const { token } = await network.log.next(shop, 'session.inbound');
    network.host.order(shop, { type: 'confirm', token });
  };
  const sends = (text: string): Promise<void> => send(network, { shop, text, to: PERSON });
  await pair(network, shop);
  await sends('before');
  await writes('ephemeral');
  await sends('one');
  network = await network.another();
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected');
  await sends('two');
  await writes('none');
  await sends('three');
  assert.deepEqual(await expirations(), [null, DAY, DAY, null]);
});

test('a post to a group carries the timer of the group, and none once it is off', async (context) => {
  const network = await simulatedNetwork(context);
  const shop = newShop();
  const group = { name: 'Some', participants: [SHOP_PHONE, PERSON], admins: [SHOP_PHONE] };
  await network.control.setGroup(GROUP, { ...group, expiration: WEEK });
  await pair(network, shop);
  await network.log.next(shop, 'session.groups', ({ groups }) => groups.length === 1);
  await send(network, { shop, text: 'one', to: GROUP });
  const knownCount = network.log.all(shop, 'session.groups').length;
  await network.control.setGroup(GROUP, group);
  await network.log.next(
    shop,
    'session.groups',
    () => network.log.all(shop, 'session.groups').length > knownCount,
  );
  await send(network, { shop, text: 'two', to: GROUP });
  const { items } = await network.control.inbox(PERSON);
  assert.deepEqual(
    items.map(({ expiration }) => expiration),
    [WEEK, null],
  );
});

async function send(
  { host, log }: SimulatedNetwork,
  { shop, text, to }: { shop: SessionAddress; text: string; to: string },
): Promise<void> {
  host.order(shop, { type: 'prepare', order: textOrder(text, { to }) });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
}
