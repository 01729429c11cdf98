/** Each kind of message from a phone has an event of its kind. An empty message has none. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { OtherClient } from '../../simulator/other-client.ts';
import type { ContactMessageCall } from '../../testbed/simulator-control.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110087';
const PERSON = '+33622220087';
const OTHER = '+33622220086';
const GROUP = '120363000000000087@g.us';

const stack = sharedStack({ phone: SHOP_PHONE }, async () => {
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' });
});

type Told = Readonly<Record<string, unknown>>;

const write = (message: Omit<ContactMessageCall, 'to'>, to = SHOP_PHONE) =>
  stack.network.write(PERSON, { to, ...message });

/** Returns the events of messages that people write while `work` runs. */
async function toldOf(work: () => Promise<unknown>): Promise<Told[]> {
  const cursor = String((await stack.api.get('/events')).data.nextCursor);
  await work();
  const query = `cursor=${cursor}&limit=100&types=message.received`;
  const { data } = await stack.api.get(`/events?${query}`);
  return (data.items as { readonly data: Told }[]).map((event) => event.data);
}

const content = Buffer.from('what the file holds');
const FILE = { file: content.toString('base64') };

/** Returns a file's facts in an event, besides its type. */
const media = (type: string, fileName: string | null = null) => ({
  type,
  size: content.byteLength,
  fileName,
  sha256: createHash('sha256').update(content).digest('hex'),
});

const card = (name: string) =>
  `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=33699999999:+33 6 99 99 99 99\nEND:VCARD`;

/** The written message, and the kind, the text and the media of its event. */
const KINDS: readonly (readonly [Omit<ContactMessageCall, 'to'>, string, string | null, object | null])[] = [
  [{ text: 'Hello' }, 'text', 'Hello', null],
  [{ text: 'Soon gone', wrapped: 'ephemeral' }, 'text', 'Soon gone', null],
  [{ kind: 'image', text: 'Like this?', ...FILE }, 'image', 'Like this?', media('image/jpeg')],
  [{ kind: 'image', wrapped: 'ephemeral', ...FILE }, 'image', null, media('image/jpeg')],
  [{ kind: 'image', wrapped: 'view_once', ...FILE }, 'image', null, media('image/jpeg')],
  [{ kind: 'video', text: 'Look', ...FILE }, 'video', 'Look', media('video/mp4')],
  [{ kind: 'video_note', ...FILE }, 'video', null, media('video/mp4')],
  [
    { kind: 'document', fileName: 'menu.pdf', ...FILE },
    'document',
    null,
    media('application/pdf', 'menu.pdf'),
  ],
  [
    { kind: 'document', text: 'Ours', fileName: 'menu.pdf', ...FILE },
    'document',
    'Ours',
    media('application/pdf', 'menu.pdf'),
  ],
  [{ kind: 'voice', ...FILE }, 'voice', null, media('audio/ogg; codecs=opus')],
  [{ kind: 'audio', ...FILE }, 'audio', null, media('audio/mp4')],
  [{ kind: 'sticker', ...FILE }, 'sticker', null, media('image/webp')],
  [{ kind: 'location', text: 'At home' }, 'location', 'geo:47.3769,8.5417\nAt home', null],
  [{ kind: 'live_location' }, 'location', 'geo:47.3769,8.5417', null],
  [{ kind: 'contact', text: 'Ana' }, 'contact', card('Ana'), null],
  [{ kind: 'contacts', text: 'Ana' }, 'contact', `${card('Ana')}\n${card('B')}`, null],
  [{ kind: 'poll', text: 'Sunday?' }, 'other', null, null],
];

test('each kind of message has an event with its kind, its text and the facts of its file', async (context) => {
  for (const [message, kind, text, told] of KINDS) {
    const [event, ...more] = await toldOf(() => write(message));
    assert.deepEqual(
      [event?.kind, event?.text, event?.media, event?.replyTo, more],
      [kind, text, told, null, []],
      JSON.stringify(message),
    );
  }
  await context.test('published messages are counted by kind', async () => {
    const headers = { authorization: `Bearer ${stack.adminToken}` };
    const metrics = await (await fetch(`${stack.adminUrl()}/metrics`, { headers })).text();
    assert.match(metrics, /^msgapi_inbound_told_total\{kind="sticker"\} 1$/m);
    assert.match(metrics, /^msgapi_inbound_told_total\{kind="document"\} 2$/m);
  });
});

test('a quote and a reaction name the message of ours that they are about', async () => {
  const sentAnswer = await sendText(stack, stack.shopId, { to: PERSON, text: 'Your bread is ready' });
  const ownId = String(sentAnswer.data.id);
  await untilStatus(stack, ownId, 'sent');
  const receivedEntry = (await stack.network.inbox(PERSON)).items.at(-1);
  const messageId = receivedEntry?.messageId ?? '';
  const told = await toldOf(async () => {
    await write({ text: 'Thanks', about: messageId });
    await write({ kind: 'image', text: 'This one?', about: messageId, ...FILE });
    await write({ kind: 'voice', about: messageId, wrapped: 'ephemeral', ...FILE });
    await write({ kind: 'reaction', text: '👍', about: messageId });
    await write({ kind: 'reaction', text: '', about: messageId });
  });
  assert.deepEqual(
    told.map(({ kind, text, replyTo }) => [kind, text, replyTo]),
    [
      ['text', 'Thanks', ownId],
      ['image', 'This one?', ownId],
      ['voice', null, ownId],
      ['reaction', '👍', ownId],
      ['reaction', '', ownId],
    ],
  );
});

test('a quote of a message that is not ours has a null replyTo', async () => {
  const { id } = await write({ text: 'Mine' });
  const [told] = await toldOf(() => write({ text: 'I mean that', about: id }));
  assert.deepEqual([told?.text, told?.replyTo], ['I mean that', null]);
});

test('an edit comes with its new text; an empty message, and one in a group, has no event', async () => {
  const { id } = await write({ text: 'At nine' });
  await stack.network.setGroup(GROUP, { name: 'Team', participants: [SHOP_PHONE, PERSON, OTHER] });
  const told = await toldOf(async () => {
    await write({ kind: 'edit', text: 'At ten', about: id });
    await write({ kind: 'revoke', about: id });
    await write({ kind: 'vote', about: id });
    await write({ kind: 'album' });
    await write({ text: 'to all of us' }, GROUP);
    await write({ kind: 'image', ...FILE }, GROUP);
    await write({ text: 'the end' });
  });
  assert.deepEqual(
    told.map(({ kind, text }) => [kind, text]),
    [
      ['text', 'At ten'],
      ['text', 'the end'],
    ],
  );
});

test('our reply quotes their message, on their phone', async () => {
  for (const addressing of ['lid', 'lid_only', 'pn'] as const) {
    const text = `Is there bread? ${addressing}`;
    let wireId = '';
    const [event] = await toldOf(async () => {
      ({ id: wireId } = await stack.network.write(OTHER, { to: SHOP_PHONE, text, addressing }));
    });
    const { data } = await stack.api.post(`/inbound/${event?.id}/reply`, { text: `Yes. ${addressing}` });
    await untilStatus(stack, String(data.id), 'sent');
    const receivedEntry = (await stack.network.inbox(OTHER)).items.at(-1);
    assert.deepEqual(
      [receivedEntry?.text, receivedEntry?.quote?.id, receivedEntry?.quote?.text],
      [`Yes. ${addressing}`, wireId, text],
    );
    assert.match(String(receivedEntry?.quote?.participant), /^\d+@(lid|s\.whatsapp\.net)$/);
  }
});

test('a client of another project reads the quote too', async (context) => {
  const otherClient = new OtherClient(stack.simulator);
  context.after(() => otherClient.client.disconnect());
  const person = '+33622220085';
  await otherClient.link((qr) => stack.network.scan(qr, person));
  let wireId = '';
  const [event] = await toldOf(async () => {
    ({ id: wireId } = await stack.network.write(person, { to: SHOP_PHONE, text: 'Is there any left?' }));
  });
  await stack.api.post(`/inbound/${event?.id}/reply`, { text: 'Two loaves.' });
  await otherClient.reads('Two loaves.');
  assert.equal(otherClient.quotes.get('Two loaves.'), wireId);
});

test('a file that answers a message quotes it as well', async () => {
  const [event] = await toldOf(() => write({ text: 'Your prices?' }));
  const mediaUrl = new URL('/openapi.json', stack.apiUrl()).href;
  const { data } = await stack.api.post(`/inbound/${event?.id}/reply`, { mediaUrl, mediaType: 'document' });
  await untilStatus(stack, String(data.id), 'sent');
  const receivedEntry = (await stack.network.inbox(PERSON)).items.at(-1);
  assert.deepEqual([receivedEntry?.mediaType, receivedEntry?.quote?.text], ['document', 'Your prices?']);
});

test('a message that only the shop’s phone can read comes from the phone, unchanged', async () => {
  let told: Told | undefined;
  const cursor = String((await stack.api.get('/events')).data.nextCursor);
  await write({ kind: 'image', text: 'From the advert', unavailable: true, ...FILE });
  await until('the phone answered', async () => {
    const { data } = await stack.api.get(`/events?cursor=${cursor}&types=message.received`);
    told = (data.items as { readonly data: Told }[])[0]?.data;
    return told !== undefined;
  });
  assert.deepEqual([told?.kind, told?.text, told?.media], ['image', 'From the advert', media('image/jpeg')]);
});
