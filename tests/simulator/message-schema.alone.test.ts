/** Messages that a web client would never send are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const NUMBER = '33622222222@s.whatsapp.net';

test('a message to a LID names the number of it, and nothing else', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const { lid } = await fixture.control.setNumber(CUSTOMER, true);
  const errorOf = async (named: string | undefined): Promise<string | undefined> => {
    const additionalAttributes = named === undefined ? {} : { peer_recipient_pn: named };
    const id = await client.socket.relayMessage(lid, { conversation: 'Hello' }, { additionalAttributes });
    return (await client.ack(id)).attrs.error;
  };
  for (const named of [undefined, lid, '33633333333@s.whatsapp.net', '@s.whatsapp.net'])
    assert.equal(await errorOf(named), '479', named);
  assert.equal(await errorOf(NUMBER), undefined);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Who am I?', addressing: 'lid_only' });
  assert.equal(await errorOf(undefined), undefined, 'a client cannot know that number');
  const inbox = await fixture.control.inbox(CUSTOMER);
  assert.equal(inbox.items.length, 2);
});

test('a stanza that lists both numbers and LIDs is refused, in a group and to a person', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const { lid } = await fixture.control.setNumber(CUSTOMER, true);
  const group = '120363000000000777@g.us';
  await fixture.control.setGroup(group, { name: 'Ours', participants: [SHOP, CUSTOMER] });
  const devices = [lid, '33611111111@s.whatsapp.net'].map((jid) => ({ tag: 'to', attrs: { jid } }));
  const participants = { tag: 'participants', attrs: {}, content: devices };
  const errorOf = async (id: string, attrs: Record<string, string>): Promise<string | undefined> => {
    await client.socket.sendNode({
      tag: 'message',
      attrs: { id, type: 'text', ...attrs },
      content: [participants],
    });
    return (await client.ack(id)).attrs.error;
  };
  assert.equal(await errorOf('A1', { to: lid, peer_recipient_pn: NUMBER }), '479');
  assert.equal(await errorOf('A2', { to: group, addressing_mode: 'lid' }), '421');
});
