/** The limits of a number with people who never wrote to it: who is refused, what is announced, what is answered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';
import type { TestClient } from './test-client.ts';

const SHOP = '+33611110001';
const [FRIEND, STRANGER, OTHER] = ['+33622220001', '+33622220002', '+33622220003'];
const chatOf = (phone: string): string => `${phone.slice(1)}@s.whatsapp.net`;

/** Sends a text; the error of its ack, or nothing. */
async function ackOf(client: TestClient, to: string): Promise<string | undefined> {
  const sentMessage = await client.socket.sendMessage(chatOf(to), { text: 'hello' });
  return (await client.ack(sentMessage?.key.id ?? '')).attrs.error;
}

/** The client has a token of this many people. */
function tokens(client: TestClient, count: number): Promise<true> {
  return client.until(
    `${count} tokens`,
    () => client.auth.idsOf('tctoken').filter((id) => id !== '__index').length === count,
  );
}

test('a restricted number is refused 463 without the token of a person who wrote, and accepted with it', async (context) => {
  const fixture = await Fixture.start(context);
  const { control } = fixture;
  const client = await fixture.link(SHOP);
  await control.write(FRIEND, { to: SHOP, text: 'hi' });
  await tokens(client, 1);
  await control.restrict(SHOP, { active: true });
  assert.equal(await ackOf(client, STRANGER), '463');
  assert.equal(await ackOf(client, FRIEND), undefined);
  assert.equal((await control.inbox(STRANGER)).items.length, 0);
  // The token alone counts, and not that somebody wrote.
  await control.write(OTHER, { to: SHOP, text: 'hi', token: 'none' });
  assert.equal(await ackOf(client, OTHER), '463');
  await control.restrict(SHOP, { active: false });
  assert.equal(await ackOf(client, STRANGER), undefined);
});

test('a token of a former LID does not count for the new one, whose account never wrote', async (context) => {
  const fixture = await Fixture.start(context);
  const { control } = fixture;
  const client = await fixture.link(SHOP);
  await control.write(FRIEND, { to: SHOP, text: 'hi' });
  await tokens(client, 1);
  await control.restrict(SHOP, { active: true });
  assert.equal(await ackOf(client, FRIEND), undefined);
  const [formerId = ''] = client.auth.idsOf('tctoken').filter((id) => id !== '__index');
  const { lid } = await control.changeLid(FRIEND);
  const { [formerId]: token } = await client.auth.keys.get('tctoken', [formerId]);
  await client.auth.keys.set({ tctoken: { [lid]: token ?? null } });
  await client.socket.signalRepository.lidMapping.storeLIDPNMappings([{ pn: chatOf(FRIEND), lid }]);
  assert.equal(await ackOf(client, FRIEND), '463');
});

test('a token may come within a message', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.write(FRIEND, { to: SHOP, text: 'hi', token: 'message' });
  await client.received('hi');
  const messages = client.stanzas.filter(({ tag }) => tag === 'message');
  const children = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  assert.ok(children.some(({ tag, attrs }) => tag === 'tctoken' && attrs.t));
});

test('a restriction is announced, answered to anyone who asks, over by its end, and kept over a restart', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.restrict(SHOP, { active: true, kind: 'WEB_COMPANION_ONLY', endsInSeconds: 3_600 });
  const told = await client.until('the restriction', () =>
    client.updates.find(({ reachoutTimeLock }) => reachoutTimeLock?.isActive),
  );
  const { enforcementType, timeEnforcementEnds } = told.reachoutTimeLock ?? {};
  assert.equal(enforcementType, 'WEB_COMPANION_ONLY');
  const left = Number(timeEnforcementEnds) - Date.now();
  assert.ok(left > 3_500_000 && left <= 3_600_000, `${left} ms`);
  await client.end();
  await fixture.restart();
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  const askedState = await secondClient.socket.fetchAccountReachoutTimelock();
  assert.equal(Number(askedState.timeEnforcementEnds), Number(timeEnforcementEnds));
});

test('a client that is away is notified at its next login, and not again once it took it', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await client.end();
  await fixture.control.restrict(SHOP, { active: true });
  const heard = async (client: TestClient): Promise<boolean> => {
    await client.opened();
    // A later message is sent after the waiting ones.
    await fixture.control.write(FRIEND, { to: SHOP, text: `hi ${client.auth.creds.me?.id}` });
    return client.updates.some(({ reachoutTimeLock }) => reachoutTimeLock?.isActive === true);
  };
  const secondClient = fixture.keep(client.again());
  assert.equal(await heard(secondClient), true);
  await secondClient.end();
  assert.equal(await heard(fixture.keep(secondClient.again())), false);
});

test('a quota is announced and answered, counts messages to who never wrote, and refuses 475 behind them', async (context) => {
  const fixture = await Fixture.start(context);
  const { control } = fixture;
  const client = await fixture.link(SHOP);
  const emptyInfo = await client.socket.fetchNewChatMessageCap();
  assert.deepEqual([emptyInfo.total_quota, emptyInfo.capping_status], [-1, 'NONE']);
  const told: unknown[] = [];
  client.on('message-capping.update', (update) => void told.push(update));
  await control.limitNewChats(SHOP, { quota: 2, used: 1, status: 'FIRST_WARNING' });
  await client.until('the quota', () => told.length > 0);
  await control.write(FRIEND, { to: SHOP, text: 'hi' });
  assert.equal(await ackOf(client, FRIEND), undefined);
  assert.equal(await ackOf(client, STRANGER), undefined);
  assert.equal(await ackOf(client, OTHER), '475');
  const askedInfo = await client.socket.fetchNewChatMessageCap();
  assert.deepEqual([askedInfo.total_quota, askedInfo.used_quota], [2, 2]);
  assert.ok(Number(askedInfo.cycle_end_timestamp) > Date.now() / 1_000);
});
