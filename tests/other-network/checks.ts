/** The whole service against the other project's server: independent code judges our stanzas and answers. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { newsletter, restriction, status, unknownClass } from './arriving.ts';
import { numberOf } from './directory.ts';
import { answerGroups } from './groups.ts';
import type { Library, Peer, Stanza } from './library.ts';
import { OtherNetwork } from './other-network.ts';
import { SERVER_FOLDER } from './server-source.ts';
import { type OtherService, startOtherService } from './service.ts';

const require = createRequire(import.meta.url);
const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const MEMBER = '+33622220002';
const AT_NIGHT = '+33622220003';
const UNASKED = '+33622220004';
const CROWD = '+33622220005';
const CONTACT = '+33622220006';
const GROUP = '120363000000000001@g.us';
const WAITING = 250;
const BAN_SECONDS = 3_600;
const WEEK_SECONDS = 7 * 86_400;

let network: OtherNetwork;
let service: OtherService;
let customer: Peer;

before(async () => {
  const [source = ''] = process.argv.slice(2);
  const library = require(join(source, SERVER_FOLDER, 'src/index.ts')) as Library;
  network = await OtherNetwork.start(library, SHOP_PHONE);
  network.answer('w:g2', answerGroups({ id: GROUP, name: 'Regulars', members: [SHOP_PHONE, MEMBER] }));
  service = await startOtherService(network);
  const phones = [CUSTOMER, MEMBER, AT_NIGHT, UNASKED, CROWD];
  await service.admin.post(`/tenants/${service.tenantId}/customers`, { phones });
});
after(async () => {
  await service?.stop();
  await network?.stop();
});

/** A text that is sent: its stanza, and the message's id. */
async function sent(peer: Peer, to: string, text: string): Promise<Stanza> {
  const reading = network.reads(peer);
  const acceptedAnswer = await sendText(service, service.shopId, { to, text });
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  await untilStatus(service, String(acceptedAnswer.data.id), 'sent');
  const read = await reading;
  assert.equal(read.text, text);
  return read.stanza;
}

/** Resolves once the client acknowledged a stanza, or sent its receipt, without an error. */
async function answered({ tag, attrs }: Stanza): Promise<void> {
  const answer = await network.hears(
    `an answer to ${tag} ${attrs.id}`,
    (stanza) => ['ack', 'receipt'].includes(stanza.tag) && stanza.attrs.id === attrs.id,
  );
  assert.equal(answer.attrs.error, undefined, `${tag} was answered with ${JSON.stringify(answer.attrs)}`);
}

/** Resolves once the shop may not write to somebody any more. */
async function optedOut(to: string): Promise<void> {
  await until(`the STOP of ${to} is heard`, async () => {
    const { error } = await sendText(service, service.shopId, { to, text: 'Your bread is ready' });
    return error?.code === 'RECIPIENT_OPTED_OUT';
  });
}

const policy = async (): Promise<Readonly<Record<string, Record<string, unknown>>>> =>
  (await service.api.get(`/shops/${service.shopId}/policy`)).data as Record<string, Record<string, unknown>>;

test('a shop pairs by QR code, without a business name, and comes back after 515', async () => {
  await service.link(network);
});

test('a text is read by its recipient and by the own phone, and names the number beside the LID', async () => {
  customer = await network.person(CUSTOMER);
  const phone = await network.person(SHOP_PHONE);
  const copied = network.reads(phone);
  const { attrs } = await sent(customer, CUSTOMER, 'Your bread is ready');
  assert.equal(attrs.peer_recipient_pn, numberOf(CUSTOMER));
  assert.equal((await copied).text, 'Your bread is ready');
});

test('a phone that was set up again asks for the text once more, and reads it', async () => {
  const { attrs } = network.heard.findLast(({ tag }) => tag === 'message') as Stanza;
  await customer.rotateForRetry();
  const again = network.reads(customer);
  await customer.sendRetryReceipt(String(attrs.id));
  assert.equal((await again).text, 'Your bread is ready');
});

test('a message from a person is acknowledged, and their STOP counts', async () => {
  for (const [id, text] of [
    ['3EB0AAAAAAAAAAAAAAAA01', 'Thank you'],
    ['3EB0AAAAAAAAAAAAAAAA02', 'STOP'],
  ] as const) {
    await customer.sendConversation(text, { id });
    await answered({ tag: 'message', attrs: { id } });
  }
  await optedOut(CUSTOMER);
});

test('a text to a group is read by its member', async () => {
  const member = await network.person(MEMBER);
  const reading = network.reads(member, GROUP);
  const acceptedAnswer = await sendText(service, service.shopId, { to: GROUP, text: 'Fresh at eight' });
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  await untilStatus(service, String(acceptedAnswer.data.id), 'sent');
  assert.equal((await reading).text, 'Fresh at eight');
});

test('a status is read by a customer who knows the shop', async () => {
  const friend = await network.person(CROWD);
  const id = '3EB0AAAAAAAAAAAAAAAA03';
  await friend.sendConversation('Do you bake on Sundays?', { id });
  await answered({ tag: 'message', attrs: { id } });
  const reading = network.reads(friend, 'status@broadcast');
  const postedAnswer = await service.api.post(`/shops/${service.shopId}/statuses`, {
    caption: 'Open on Sunday',
  });
  assert.equal(postedAnswer.status, 202, JSON.stringify(postedAnswer.error));
  await untilStatus(service, String(postedAnswer.data.id), 'sent');
  assert.equal((await reading).text, 'Open on Sunday');
});

test('statuses, newsletters and unknown classes are acknowledged without an error', async () => {
  const stanzas = [
    status(CONTACT, 'status'),
    status(CONTACT, 'message'),
    newsletter(),
    unknownClass('appdata'),
    unknownClass('tomorrow'),
  ];
  for (const stanza of stanzas) await network.push(stanza);
  for (const stanza of stanzas) await answered(stanza);
});

test(`a STOP behind ${WAITING} waiting stanzas counts: the client asks for every batch`, async () => {
  await service.node.end('SIGTERM');
  const waitingQueue = network.leave();
  const stanzas = Array.from({ length: WAITING - 1 }, (_, index) =>
    status(CONTACT, index % 2 === 0 ? 'status' : 'message'),
  );
  for (const stanza of stanzas) await network.push(stanza);
  const late = await network.person(AT_NIGHT);
  await late.sendConversation('STOP', { id: '3EB0AAAAAAAAAAAAAAAA04' });
  await service.node.start();
  await optedOut(AT_NIGHT);
  for (const stanza of stanzas) await answered(stanza);
  assert.ok(waitingQueue.batches > 1, `${waitingQueue.batches} batches`);
});

test('a restriction that the network announces bars new chats until its end, and its lifting is noticed', async () => {
  const endsAt = Math.floor(Date.now() / 1_000) + WEEK_SECONDS;
  const announced = restriction(endsAt);
  await network.push(announced);
  await answered(announced);
  await until('the restriction is shown', async () => {
    const shown = (await policy()).network?.restrictedUntil;
    return Date.parse(String(shown)) === endsAt * 1_000;
  });
  const { status: code, error } = await sendText(service, service.shopId, { to: UNASKED, text: 'Hello' });
  assert.deepEqual([code, error?.code], [429, 'COLD_RECIPIENT_CAP_REACHED']);
  await network.push(restriction(undefined));
  await until('it is lifted', async () => (await policy()).network?.restrictedUntil === null);
});

test('a throttled look-up inside a result is a rate signal: the message waits', async () => {
  await network.person(UNASKED);
  network.directory.throttled = { code: 429, backoff: BAN_SECONDS };
  const acceptedAnswer = await sendText(service, service.shopId, {
    to: UNASKED,
    text: 'Your bread is ready',
  });
  const queue = await until('the queue is paused', async () => {
    const { queue } = await policy();
    return queue?.pausedBy === 'rate_signal' && queue;
  });
  const pausedMs = Date.parse(String(queue.pausedUntil)) - Date.now();
  assert.ok(pausedMs > (BAN_SECONDS - 60) * 1_000, `${pausedMs} ms`);
  const { data } = await service.api.get(`/messages/${acceptedAnswer.data.id}`);
  assert.equal(data.status, 'queued');
});

test('a temporary ban (402) is reported with its end and code, and waited out', async () => {
  const attrs = { reason: '402', code: '104', expire: String(BAN_SECONDS), location: 'cln' };
  network.failure = { tag: 'failure', attrs };
  await network.push({ tag: 'stream:error', attrs: { code: '503' } });
  const channel = await until('the ban is told', async () => {
    const shown = await service.channel();
    return shown.reason === 'TEMPORARILY_BANNED' && shown;
  });
  assert.equal(channel.networkCode, 104);
  const bannedMs = Date.parse(String(channel.bannedUntil)) - Date.now();
  assert.ok(bannedMs > (BAN_SECONDS - 60) * 1_000, `${bannedMs} ms`);
});
