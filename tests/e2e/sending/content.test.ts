/** The contents and recipients of sends, and the effects of the network's answers, through the API. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { after, test } from 'node:test';
import { box, FILE_TYPE, movie } from '../../actors/sessions/attachments/media-samples.ts';
import { listening } from '../../testbed/listening.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110002';
const GROUP = '120363000000000001@g.us';
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const film = Buffer.concat([
  FILE_TYPE,
  movie({ width: 640, height: 360, length: 12_400 }),
  box('mdat', randomBytes(4_096)),
]);
const files = new Map([
  ['/bread.png', { type: 'image/png', bytes: pixel }],
  ['/bread.mp4', { type: 'video/mp4', bytes: film }],
  ['/prices.pdf', { type: 'application/pdf', bytes: Buffer.from('%PDF-1.4 prices') }],
]);

let shop: string;
let media: Server;
let mediaUrl: string;
after(() => media.close());
const stack = sharedStack({}, async () => {
  shop = stack.shopId;
  media = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.bytes);
  });
  mediaUrl = `http://127.0.0.1:${await listening(media)}`;
  const phones = Array.from({ length: 20 }, (_, index) => recipient(index));
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  await connectShop(stack, shop, SHOP_PHONE);
});

const recipient = (index: number): string => `+3362222${String(1_000 + index)}`;

for (const [index, [path, mediaType, shown]] of (
  [
    ['/bread.png', 'image', [1, 1, null, null, '/9j/']],
    ['/bread.mp4', 'video', [640, 360, 12, null, undefined]],
    ['/prices.pdf', 'document', [null, null, null, 'prices.pdf', undefined]],
  ] as const
).entries()) {
  test(`an attachment sent as ${mediaType} arrives whole, with a text and what phones show at once`, async () => {
    const to = recipient(index);
    const body = { channel: 'msgapp', to, text: 'Look', mediaUrl: mediaUrl + path, mediaType };
    const acceptedAnswer = await stack.api.post(`/shops/${shop}/messages`, body);
    assert.equal(acceptedAnswer.status, 202);
    await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
    const [entry] = (await stack.network.inbox(to)).items;
    const expected = createHash('sha256')
      .update(files.get(path)?.bytes ?? '')
      .digest('hex');
    assert.equal(entry?.mediaSha256, expected);
    assert.deepEqual([entry?.text, entry?.mediaType], ['Look', mediaType]);
    const { width, height, seconds, fileName, thumbnail } = entry?.media ?? {};
    assert.deepEqual([width, height, seconds, fileName, thumbnail?.slice(0, 4)], shown);
  });
}

test('a message with media that cannot be fetched fails with MEDIA_UNAVAILABLE and is not sent', async () => {
  const to = recipient(4);
  const body = { channel: 'msgapp', to, mediaUrl: `${mediaUrl}/gone.png` };
  const acceptedAnswer = await stack.api.post(`/shops/${shop}/messages`, body);
  const ended = await untilEnded(stack, String(acceptedAnswer.data.id));
  assert.deepEqual([ended.status, ended.reason], ['failed', 'MEDIA_UNAVAILABLE']);
  assert.equal((await stack.network.inbox(to)).items.length, 0);
});

test('a number that is not on the network is rejected RECIPIENT_NOT_ON_MSGAPP', async () => {
  await stack.network.setNumber(recipient(5), false);
  const acceptedAnswer = await sendText(stack, shop, { to: recipient(5), text: 'Hello?' });
  const ended = await untilEnded(stack, String(acceptedAnswer.data.id));
  assert.deepEqual([ended.status, ended.reason], ['rejected', 'RECIPIENT_NOT_ON_MSGAPP']);
});

test('an ack error that is not a rate signal fails the message SEND_REFUSED', async () => {
  await stack.network.ackErrors(SHOP_PHONE, 479);
  const acceptedAnswer = await sendText(stack, shop, { to: recipient(6), text: 'Refused' });
  const ended = await untilEnded(stack, String(acceptedAnswer.data.id));
  assert.deepEqual([ended.status, ended.reason], ['failed', 'SEND_REFUSED']);
});

test('a group is listed with canSend; a message to it is refused unless the shop administers it', async () => {
  const participants = [SHOP_PHONE, recipient(7), recipient(8)];
  await stack.network.setGroup(GROUP, { name: 'Bread club', participants, admins: [SHOP_PHONE] });
  const groups = await until('the group is listed', async () => {
    const { data } = await stack.api.get(`/shops/${shop}/groups?canSend=true&q=bread`);
    const items = data.items as { id: string; canSend: boolean; participantCount: number }[] | undefined;
    return items?.find(({ id }) => id === GROUP);
  });
  assert.deepEqual([groups.canSend, groups.participantCount], [true, 3]);
  const acceptedAnswer = await sendText(stack, shop, { to: GROUP, text: 'Fresh at eight' });
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  const { recipientClass, caps, usage } = acceptedAnswer.data.policy as Record<
    string,
    Record<string, number>
  >;
  assert.deepEqual(
    [recipientClass, caps?.perDay, caps?.perHour, usage?.today, usage?.lastHour],
    ['group', 20, 20, 1, 1],
    'the figures of the group budget',
  );
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
  const entry = (await stack.network.inbox(recipient(8))).items.find(({ group }) => group === GROUP);
  assert.equal(entry?.text, 'Fresh at eight');
  const crowd = '120363000000000003@g.us';
  const many = [SHOP_PHONE, ...Array.from({ length: 50 }, (_, index) => recipient(100 + index))];
  await stack.network.setGroup(crowd, { name: 'All of us', participants: many, admins: [SHOP_PHONE] });
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { settings: { groupsPerDay: 1 } });
  const tooLarge = await until('the crowd is known', async () => {
    const { error, headers } = await sendText(stack, shop, { to: crowd, text: 'Too many' });
    return error?.code !== 'GROUP_CONTEXT_REQUIRED' && { ...error, header: headers.get('retry-after') };
  });
  assert.deepEqual(
    [tooLarge.code, tooLarge.retryAfter, tooLarge.header],
    ['GROUP_DAILY_CAP_REACHED', 86_400, '86400'],
  );
  assert.match(String(tooLarge.message), /Waiting does not lift this\.$/);
  const strangers = '120363000000000002@g.us';
  await stack.network.setGroup(strangers, { name: 'Others', participants, admins: [recipient(7)] });
  const refusal = await until('the second group is known', async () => {
    const { status, error } = await sendText(stack, shop, { to: strangers, text: 'Spam' });
    return error?.code !== 'GROUP_CONTEXT_REQUIRED' && { status, code: error?.code };
  });
  assert.deepEqual(refusal, { status: 403, code: 'GROUP_NOT_ADMINISTERED' });
});

test('a status is not shown to a person who sent STOP while the network hid their number', async () => {
  const [silent, other] = [recipient(18), recipient(19)];
  await stack.network.write(silent, { to: SHOP_PHONE, text: 'STOP', addressing: 'lid_only' });
  for (const caption of ['Open on Monday', 'Open on Tuesday']) {
    const postedAnswer = await stack.api.post(`/shops/${shop}/statuses`, { caption });
    await untilStatus(stack, String(postedAnswer.data.id), 'sent');
  }
  const { items } = await stack.network.statuses(SHOP_PHONE);
  const shownTo = items
    .slice(-2)
    .map(({ audience }) => [audience.includes(silent), audience.includes(other)]);
  assert.deepEqual(shownTo, [
    [false, true],
    [false, true],
  ]);
});

test('a status is posted to those who know the shop', async () => {
  const postedAnswer = await stack.api.post(`/shops/${shop}/statuses`, { caption: 'Open on Sunday' });
  assert.equal(postedAnswer.status, 202);
  const sent = await untilStatus(stack, String(postedAnswer.data.id), 'sent');
  assert.equal(sent.kind, 'status');
  const { items } = await stack.network.statuses(SHOP_PHONE);
  assert.equal(items.length > 0, true);
});

test('a dropped session reconnects, and waiting messages are sent', async () => {
  await stack.network.fault(SHOP_PHONE, 'drop');
  const acceptedAnswer = await until('a send is accepted again', async () => {
    const answer = await sendText(stack, shop, { to: recipient(9), text: 'After the drop' });
    return answer.status === 202 && answer;
  });
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
});

test('a shop that the phone unlinked is flagged, refuses sends, and pairs again', async () => {
  await stack.network.fault(SHOP_PHONE, 'logged_out');
  await until('the channel is disconnected', async () => {
    const { data } = await stack.api.get(`/shops/${shop}/channels/msgapp`);
    return data.status === 'disconnected';
  });
  const refusedAnswer = await sendText(stack, shop, { to: recipient(10), text: 'Hello' });
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [503, 'MSGAPP_SESSION_LOST']);
  await connectShop(stack, shop, SHOP_PHONE);
  const acceptedAnswer = await sendText(stack, shop, { to: recipient(10), text: 'Hello again' });
  assert.equal((acceptedAnswer.data.policy as { warmupDay: number }).warmupDay, 0);
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
});
