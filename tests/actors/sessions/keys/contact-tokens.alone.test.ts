/** People who write to a number give it a token. The session sends it as long as the network accepts it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTcTokenExpired } from '@whiskeysockets/baileys/lib/Utils/tc-token-utils.js';
import {
  ContactTokens,
  keysMovingTokens,
} from '../../../../actors/sessions/worker-thread/keys/contact-tokens.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import type { SimulatorEvent } from '../../../../simulator/network.ts';
import { MemoryAuth } from '../../../simulator/test-client.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const [WRITER, FRIEND, STRANGER, OTHER] = ['+33622222222', '+33622222223', '+33622222224', '+33622222225'];
const LID = '123456789012345@lid';
const WEEK_MS = 7 * DAY_MS;
const secondsOf = (atMs: number): string => String(Math.floor(atMs / 1_000));

test('a token of five weeks is shown to the client as younger, keeps its own time, and is over after 26 weeks', async () => {
  const { keys } = new MemoryAuth();
  const givenAtMs = Date.now() - 5 * WEEK_MS;
  const own = secondsOf(givenAtMs);
  let nowMs = Date.now();
  const tokens = new ContactTokens({ keys, nowMs: () => nowMs, lidOf: async () => null });
  const client = tokens.forClient();
  const shownNow = async () => (await client.get('tctoken', [LID]))[LID];
  const stored = async () => (await keys.get('tctoken', [LID]))[LID];
  const token = Buffer.from('token');
  await keys.set({ tctoken: { [LID]: { token, timestamp: own } } });
  assert.equal(isTcTokenExpired(own), true, 'the client would erase it');
  const shown = await shownNow();
  assert.equal(isTcTokenExpired(shown?.timestamp), false);
  assert.equal(await tokens.has(LID), true);
  await client.set({ tctoken: { [LID]: { ...shown, token, senderTimestamp: 7 } } });
  assert.deepEqual(await stored(), { token, timestamp: own, senderTimestamp: 7 });
  nowMs = givenAtMs + 24 * WEEK_MS;
  assert.ok(Number((await shownNow())?.timestamp) > Number(own));
  assert.equal(await tokens.has(LID), true);
  nowMs = givenAtMs + 26 * WEEK_MS;
  assert.equal((await shownNow())?.timestamp, own);
  assert.equal(await tokens.has(LID), false);
  const renewed = secondsOf(nowMs);
  await client.set({ tctoken: { [LID]: { ...shown, token, timestamp: renewed } } });
  assert.equal((await stored())?.timestamp, renewed, 'a newer token has its own time');
});

test('a restricted number writes to a person whose token came within the message', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  const written = control.write(WRITER, { to: SHOP_PHONE, text: 'hi', token: 'message' });
  host.order(shop, { type: 'confirm', token: (await log.next(shop, 'session.inbound')).token });
  assert.equal((await written).delivered, true);
  await control.restrict(SHOP_PHONE, { active: true });
  const order = textOrder('hello', { to: WRITER, needsChat: true });
  assert.deepEqual(await outcomeOf(order), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, WRITER), ['hello']);
});

test('a token that came before the LID of its giver was known counts once it is', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  // Look-ups are not answered, and the stanza names no LID.
  await control.fault(SHOP_PHONE, 'unlisted', 100);
  const writing = { to: SHOP_PHONE, text: 'hi', token: 'message', addressing: 'pn_only' } as const;
  const written = control.write(WRITER, writing);
  host.order(shop, { type: 'confirm', token: (await log.next(shop, 'session.inbound')).token });
  assert.equal((await written).delivered, true);
  await control.fault(SHOP_PHONE, 'unlisted', 0);
  await control.restrict(SHOP_PHONE, { active: true });
  assert.deepEqual(await outcomeOf(textOrder('hello', { to: WRITER, needsChat: true })), {
    kind: 'acknowledged',
  });
  assert.deepEqual(await network.received(shop, WRITER), ['hello']);
});

test('a token moves with the first LID of its number, unless that has a newer one, and with no later LID', async () => {
  const { keys } = new MemoryAuth();
  const moving = keysMovingTokens(keys);
  const chats = ['111@s.whatsapp.net', '222@s.whatsapp.net', '333@s.whatsapp.net'] as const;
  const token = (text: string, timestamp: string) => ({ token: Buffer.from(text), timestamp });
  await keys.set({
    tctoken: Object.fromEntries(chats.map((chat) => [chat, token(chat, '20')])),
    'lid-mapping': { 333: 'former' },
  });
  await keys.set({ tctoken: { 'two@lid': token('newer', '30'), 'one@lid': token('older', '10') } });
  await moving.set({
    tctoken: { 'other@lid': token('of the same write', '20') },
    'lid-mapping': { 111: 'one', one_reverse: '111', 222: 'two', two_reverse: '222', 333: 'later' },
  });
  const all = await keys.get('tctoken', [...chats, 'one@lid', 'two@lid', 'later@lid', 'other@lid']);
  assert.deepEqual(
    Object.entries(all).map(([chat, kept]) => [chat, String(kept?.token)]),
    [
      ['333@s.whatsapp.net', '333@s.whatsapp.net'],
      ['one@lid', '111@s.whatsapp.net'],
      ['two@lid', 'newer'],
      ['other@lid', 'of the same write'],
    ],
  );
  assert.deepEqual(await keys.get('lid-mapping', ['111', 'one_reverse']), { 111: 'one', one_reverse: '111' });
});

test('after a refusal 463 nobody is asked for a token', async (context) => {
  const issued: SimulatorEvent[] = [];
  const { shop, host, log, control } = await pairedShop(
    context,
    {},
    { log: (event) => void (event.event === 'token issued' && issued.push(event)) },
  );
  const sends = async (to: string, kind: string): Promise<void> => {
    host.order(shop, { type: 'prepare', order: textOrder(`to ${to}`, { to }) });
    assert.equal((await log.next(shop, 'session.send_outcome')).outcome.kind, kind);
  };
  // A first message is followed by a token, once a week.
  await sends(FRIEND, 'acknowledged');
  await until('the token of the first message', async () => issued.length === 1);
  await sends(STRANGER, 'acknowledged');
  await until('the token of the second message', async () => issued.length === 2);
  await control.ackErrors(SHOP_PHONE, 463);
  await sends(FRIEND, 'refused');
  // Any request that the refusal causes would be sent before this.
  await sends(OTHER, 'acknowledged');
  await until('the token of the last message', async () =>
    issued.some(({ to }) => to !== issued[0]?.to && to !== issued[1]?.to),
  );
  assert.equal(issued.length, 3, JSON.stringify(issued));
});
