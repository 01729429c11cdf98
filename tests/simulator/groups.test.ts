import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupMetadata } from '@whiskeysockets/baileys';
import { Fixture } from './fixture.ts';

const SHOP = '+33611111111';
const MEMBERS = ['+33622222222', '+33633333333'] as const;
const GROUP = '120363000000000001@g.us';

for (const addressingMode of ['lid', 'pn'] as const) {
  test(`a group addressed by ${addressingMode}: sent to, written in, and every phone reads it`, async (context) => {
    const fixture = await Fixture.start(context);
    await fixture.control.setGroup(GROUP, {
      name: 'Customers',
      participants: [SHOP, ...MEMBERS],
      admins: [SHOP],
      addressingMode,
    });
    const client = await fixture.link(SHOP);
    const groups = await client.socket.groupFetchAllParticipating();
    const group = groups[GROUP];
    assert.equal(group?.subject, 'Customers');
    assert.equal(group?.addressingMode, addressingMode);
    assert.equal(group?.participants.length, 3);
    assert.equal(group?.participants.find(({ admin }) => admin)?.id, ownAddress(addressingMode, client));
    await client.socket.sendPresenceUpdate('composing', GROUP);
    for (const text of ['first', 'second']) {
      const sentMessage = await client.socket.sendMessage(GROUP, { text });
      const ack = await client.ack(sentMessage?.key.id ?? '');
      assert.equal(ack.attrs.error, undefined);
    }
    for (const member of MEMBERS) {
      const { items } = await fixture.control.inbox(member);
      assert.deepEqual(
        items.map(({ text, group: id, from, composingSeen }) => ({ text, id, from, composingSeen })),
        [
          { text: 'first', id: GROUP, from: SHOP, composingSeen: true },
          { text: 'second', id: GROUP, from: SHOP, composingSeen: false },
        ],
      );
    }
    assert.deepEqual((await fixture.control.inbox(SHOP)).items, [], 'its own phone shows nothing');
    for (const text of ['hello all', 'again']) {
      const { delivered } = await fixture.control.write(MEMBERS[0], { to: GROUP, text });
      assert.equal(delivered, true);
      const message = await client.received(text);
      assert.equal(message.key.remoteJid, GROUP);
    }
  });
}

const ownAddress = (mode: 'lid' | 'pn', client: { auth: { creds: { me?: { lid?: string } } } }): string =>
  mode === 'pn' ? '33611111111@s.whatsapp.net' : (client.auth.creds.me?.lid ?? '').replace(/:\d+@/, '@');

test('in an announcement group only administrators may write; outsiders and unknown groups are refused', async (context) => {
  const fixture = await Fixture.start(context);
  const group = { name: 'News', participants: [SHOP, ...MEMBERS], admins: [MEMBERS[0]], announce: true };
  await fixture.control.setGroup(GROUP, group);
  const client = await fixture.link(SHOP);
  const errorOf = async (): Promise<string | undefined> => {
    const sentMessage = await client.socket.sendMessage(
      GROUP,
      { text: 'may I?' },
      { useCachedGroupMetadata: true },
    );
    return (await client.ack(sentMessage?.key.id ?? '')).attrs.error;
  };
  assert.equal((await client.socket.groupMetadata(GROUP)).announce, true);
  assert.equal(await errorOf(), '403');
  await fixture.control.setGroup(GROUP, { ...group, admins: [SHOP] });
  assert.equal(await errorOf(), undefined);
  await fixture.control.setGroup(GROUP, { ...group, participants: [...MEMBERS] });
  await assert.rejects(client.socket.groupMetadata(GROUP), (error: { data?: unknown }) => error.data === 403);
  await assert.rejects(
    client.socket.groupMetadata('120363999@g.us'),
    (error: { data?: unknown }) => error.data === 404,
  );
  await assert.rejects(fixture.control.write(SHOP, { to: GROUP, text: 'x' }), { code: 'MAY_NOT_WRITE' });
});

test('a group that changes notifies the clients in it: created, promoted, renamed, closed, member gone', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const createdMetadatas: GroupMetadata[] = [];
  const updates: Partial<GroupMetadata>[] = [];
  const people: string[] = [];
  client.on('groups.upsert', (groups) => void createdMetadatas.push(...groups));
  client.on('groups.update', (groups) => void updates.push(...groups));
  client.on('group-participants.update', ({ action, participants }) =>
    people.push(`${action} ${participants.length}`),
  );
  const group = { name: 'Customers', participants: [SHOP, ...MEMBERS], admins: [MEMBERS[0]] };
  await fixture.control.setGroup(GROUP, group);
  await client.until('the group', () => createdMetadatas.some(({ id }) => id === GROUP));
  await fixture.control.setGroup(GROUP, {
    name: 'Friends',
    participants: [SHOP, MEMBERS[0]],
    admins: [MEMBERS[0], SHOP],
    announce: true,
  });
  await client.until('the changes', () => people.length === 2 && updates.length === 2);
  assert.deepEqual(people, ['remove 1', 'promote 1']);
  assert.deepEqual(
    updates.map(({ subject, announce }) => ({ subject, announce })),
    [
      { subject: 'Friends', announce: undefined },
      { subject: undefined, announce: true },
    ],
  );
});

test('a client that was away when a group changed fetches its groups at login', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await client.end();
  await fixture.control.setGroup(GROUP, { name: 'New', participants: [SHOP, MEMBERS[0]] });
  const secondClient = fixture.keep(client.again());
  const updates: Partial<GroupMetadata>[] = [];
  secondClient.on('groups.update', (groups) => void updates.push(...groups));
  await secondClient.until('the group', () => updates.some(({ subject }) => subject === 'New'));
});

test('a status reaches its audience and is listed for its author and its viewers', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const ack = await client.ack(await client.post({ text: 'Open today' }, await client.lidsOf(MEMBERS)));
  assert.equal(ack.attrs.error, undefined);
  const { items } = await fixture.control.statuses(SHOP);
  assert.deepEqual(
    items.map(({ from, text, audience, mediaSha256 }) => ({ from, text, audience, mediaSha256 })),
    [{ from: SHOP, text: 'Open today', audience: [...MEMBERS], mediaSha256: null }],
  );
  for (const viewer of MEMBERS) {
    const seenPage = await fixture.control.statuses(viewer);
    assert.deepEqual(
      seenPage.items.map(({ from, text }) => ({ from, text })),
      [{ from: SHOP, text: 'Open today' }],
    );
    assert.deepEqual((await fixture.control.inbox(viewer)).items, []);
  }
});

test('a status that names a number, or names no viewers, is refused, and so is a chat without its number', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const numbers = MEMBERS.map((phone) => `${phone.slice(1)}@s.whatsapp.net`);
  const lids = await client.lidsOf(MEMBERS);
  const refusedFor = async (id: string | null | undefined): Promise<string | undefined> =>
    (await client.ack(id ?? '')).attrs.error;
  assert.equal(await refusedFor(await client.post({ text: 'By number' }, numbers)), '479');
  const silentMessage = await client.socket.sendMessage(
    'status@broadcast',
    { text: 'To whom?' },
    { statusJidList: lids },
  );
  assert.equal(await refusedFor(silentMessage?.key.id), '479');
  const direct = await client.socket.sendMessage(lids[0] ?? '', { text: 'By LID alone' });
  assert.equal(await refusedFor(direct?.key.id), '479');
  assert.deepEqual((await fixture.control.statuses(SHOP)).items, []);
});
