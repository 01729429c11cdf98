import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';
import { FILE_TYPE, movie, png } from '../attachments/media-samples.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';

const PERSON = '+33622222222';
const OTHER = '+33633333333';
const GROUP = '120363000000000021@g.us';
/** The facts of an attachment whose message has none. */
const NOTHING = { fileName: null, width: null, height: null, seconds: null, thumbnail: undefined };

const film = Buffer.concat([
  FILE_TYPE,
  movie({ width: 640, height: 360, length: 12_400 }),
  randomBytes(200_000),
]);
/** The bodies by the type that a server declares; any other is an image. */
const BODIES: Readonly<Record<string, Buffer>> = {
  'video/mp4': film,
  'image/webp': Buffer.from('RIFF\x1a\0\0\0WEBPVP8L', 'latin1'),
  'application/pdf': Buffer.from('%PDF-1.4 prices'),
};
const picture = png(300, 150);

/** Serves an attachment at `/file`, under any content type asked for. */
async function serve(context: TestContext): Promise<(type: string) => string> {
  const server = createServer((request, reply) => {
    const type = new URL(request.url ?? '/', 'http://x').searchParams.get('type') ?? 'text/plain';
    const body = type === 'text/html' ? '<p>' : (BODIES[type] ?? picture);
    reply.writeHead(200, { 'content-type': type }).end(body);
  });
  const port = await listening(server);
  context.after(() => server.close());
  return (type) => `http://127.0.0.1:${port}/file?type=${encodeURIComponent(type)}`;
}

test('an image, a video and documents arrive complete, with and without text, and with the facts that phones show at once', async (context) => {
  const { network, outcomeOf } = await pairedShop(context);
  const urlOf = await serve(context);
  const sends = [
    { mediaType: 'image', type: 'image/png', text: 'with words' },
    { mediaType: 'video', type: 'video/mp4', text: undefined },
    { mediaType: 'document', type: 'application/pdf', text: 'read this' },
    { mediaType: 'image', type: 'image/webp', text: 'no phone opens it' },
  ] as const;
  for (const { mediaType, type, text } of sends) {
    const order = textOrder(mediaType, { text, mediaType, mediaUrl: urlOf(type), deadlineMs: 15_000 });
    assert.deepEqual(await outcomeOf(order), { kind: 'acknowledged' });
  }
  const { items } = await network.control.inbox(PERSON);
  assert.deepEqual(
    items.map((item) => [item.mediaSha256, item.text ?? undefined]),
    sends.map(({ type, text }) => [
      createHash('sha256')
        .update(BODIES[type] ?? picture)
        .digest('hex'),
      text,
    ]),
  );
  assert.deepEqual(
    items.map(({ mediaType, media }) => ({
      mediaType,
      ...media,
      thumbnail: media?.thumbnail?.slice(0, 4),
    })),
    [
      { ...NOTHING, mediaType: 'image', mimetype: 'image/png', width: 300, height: 150, thumbnail: '/9j/' },
      { ...NOTHING, mediaType: 'video', mimetype: 'video/mp4', width: 640, height: 360, seconds: 12 },
      { ...NOTHING, mediaType: 'document', mimetype: 'application/pdf', fileName: 'file.pdf' },
      { ...NOTHING, mediaType: 'document', mimetype: 'image/webp', fileName: 'file.webp' },
    ],
  );
});

test('an attachment that cannot be had fails, and one that cannot be uploaded is tried again', async (context) => {
  const { network, outcomeOf } = await pairedShop(context);
  const urlOf = await serve(context);
  const fate = async (mediaUrl: string): Promise<string> => {
    const outcome = await outcomeOf(textOrder('x', { mediaUrl, mediaType: 'image', deadlineMs: 15_000 }));
    return outcome.kind === 'media_unavailable' ? outcome.detail : outcome.kind;
  };
  assert.match(await fate(urlOf('text/html')), /no image/);
  assert.match(await fate('http://127.0.0.1:9/x'), /could not be fetched/);
  await network.control.queryErrors(SHOP_PHONE, { xmlns: 'w:m', code: 500, text: 'no' });
  assert.equal(await fate(urlOf('image/png')), 'unprepared');
  assert.equal(await fate(urlOf('image/png')), 'acknowledged');
  assert.deepEqual(await outcomeOf(textOrder('still alive')), { kind: 'acknowledged' });
});

for (const addressingMode of ['lid', 'pn'] as const) {
  test(`a group addressed by ${addressingMode} is written to, and every member reads it`, async (context) => {
    const network = await simulatedNetwork(context);
    const shop = newShop();
    const { host, log, control } = network;
    const group = {
      name: 'Clients',
      participants: [SHOP_PHONE, PERSON, OTHER],
      admins: [SHOP_PHONE],
      addressingMode,
    };
    await control.setGroup(GROUP, group);
    await pair(network, shop);
    for (const text of ['one', 'two']) {
      host.order(shop, { type: 'prepare', order: textOrder(text, { to: GROUP }) });
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
    }
    for (const member of [PERSON, OTHER]) {
      const { items } = await control.inbox(member);
      assert.deepEqual(
        items.map(({ text, group: id }) => [text, id]),
        [
          ['one', GROUP],
          ['two', GROUP],
        ],
      );
      assert.equal(items[0]?.composingSeen, true);
    }
  });
}

test('groups follow what changes in the network, and silence never empties them', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context, { timing: { queryMs: 5_000 } });
  const group = { name: 'Clients', participants: [SHOP_PHONE, PERSON], admins: [PERSON] };
  await log.next(shop, 'session.groups', ({ groups }) => groups.length === 0);
  await control.setGroup(GROUP, group);
  await log.next(shop, 'session.groups', ({ groups }) => groups[0]?.isAdmin === false);
  await control.setGroup(GROUP, { ...group, name: 'New name', admins: [SHOP_PHONE], announce: true });
  const told = await log.next(shop, 'session.groups', ({ groups }) => groups[0]?.isAdmin === true);
  assert.deepEqual(told.groups, [
    { id: GROUP, name: 'New name', participantCount: 2, isAdmin: true, announce: true },
  ]);
  const countBefore = log.all(shop, 'session.groups').length;
  await control.queryErrors(SHOP_PHONE, { xmlns: 'w:g2', code: 429, text: 'rate-overlimit' });
  host.order(shop, { type: 'refresh_groups' });
  const refusals = (): string[] =>
    network.logged.filter((line) => line.includes('groups could not be asked for'));
  await until('the refusal is in the log', async () => refusals().length > 0);
  assert.match(refusals().join('\n'), /"error":"Error","cause":"","code":429/);
  assert.doesNotMatch(refusals().join('\n'), /rate-overlimit/);
  assert.equal(log.all(shop, 'session.groups').length, countBefore);
  await control.setGroup(GROUP, { ...group, participants: [PERSON] });
  await log.next(shop, 'session.groups', ({ groups }) => groups.length === 0);
});

test('a status is shown to its audience, as text and as image', async (context) => {
  const { network, outcomeOf } = await pairedShop(context);
  const urlOf = await serve(context);
  const status = { kind: 'status', to: '', audience: [PERSON, OTHER], deadlineMs: 15_000 } as const;
  const image = (type: string) => ({ ...status, mediaUrl: urlOf(type), mediaType: 'image' }) as const;
  assert.deepEqual(await outcomeOf(textOrder('open until nine', status)), { kind: 'acknowledged' });
  assert.deepEqual(await outcomeOf(textOrder('look', image('image/png'))), { kind: 'acknowledged' });
  const { items } = await network.control.statuses(SHOP_PHONE);
  assert.deepEqual(
    items.map(({ text, audience, mediaType }) => [text, [...audience].sort(), mediaType]),
    [
      ['open until nine', [PERSON, OTHER], null],
      ['look', [PERSON, OTHER], 'image'],
    ],
  );
  assert.deepEqual(
    items.map(({ style }) => style),
    [{ background: '#ff128c7e', font: 0 }, null],
    'phones expect a background and a font',
  );
  assert.deepEqual([items[1]?.media?.width, items[1]?.media?.thumbnail?.slice(0, 4)], [300, '/9j/']);
  assert.deepEqual(await outcomeOf(textOrder('odd', image('image/webp'))), {
    kind: 'media_unavailable',
    detail: 'a status shows only JPEG, PNG and MP4 with H.264',
  });
});

test('a rate signal to the query before a send leaves the message unsent; so does silence', async (context) => {
  const { network, shop, control, outcomeOf } = await pairedShop(context, { timing: { queryMs: 2_000 } });
  // The client sends other queries once it is open. They get the error too, so it is set for 50 of them.
  await control.queryErrors(SHOP_PHONE, { xmlns: 'usync', code: 429, text: 'rate-overlimit', count: 50 });
  assert.deepEqual(await outcomeOf(textOrder('too much')), { kind: 'rate_limited' });
  await control.queryErrors(SHOP_PHONE, { xmlns: 'usync', count: 0 });
  await control.fault(SHOP_PHONE, 'deaf');
  assert.deepEqual(await outcomeOf(textOrder('into silence', { to: OTHER, deadlineMs: 30_000 })), {
    kind: 'not_sent',
  });
  assert.deepEqual(await network.received(shop, PERSON), []);
});
