import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import sharp, { type Metadata } from 'sharp';
import type { MediaType } from '../../../../actors/media-type.ts';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../../actors/outbound/name-lookup.ts';
import {
  type FetchedMedia,
  fetchMedia,
} from '../../../../actors/sessions/worker-thread/attachments/media-fetch.ts';
import { animatedPng, boxOfSize, FILE_TYPE, movie, png } from './media-samples.ts';

const photo = sharp({ create: { width: 400, height: 200, channels: 3, background: '#336699' } });
let served: { readonly type: string; readonly bytes: Buffer };
const server = createServer((_, reply) =>
  reply.writeHead(200, { 'content-type': served.type }).end(served.bytes),
);
before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
after(() => new Promise((resolve) => server.close(resolve)));

async function fetched(mediaType: MediaType, type: string, bytes: Buffer): Promise<FetchedMedia> {
  served = { type, bytes };
  const media = await fetchMedia({
    tenantId: 'tenant',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`,
    mediaType,
    timeoutMs: 20_000,
    guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
    resolve: nameLookup([]),
  });
  await media.discard();
  return media;
}

const seen = (thumbnail: Buffer = Buffer.alloc(0)): Promise<Metadata> => sharp(thumbnail).metadata();

const told = ({ sentAs, contentType, width, height }: FetchedMedia): unknown[] => [
  sentAs,
  contentType,
  width,
  height,
];

test('a JPEG and a PNG go as images, with their size and a thumbnail', async () => {
  for (const [type, bytes] of [
    ['image/jpeg', await photo.clone().jpeg().toBuffer()],
    ['image/png', await photo.clone().png().toBuffer()],
  ] as const) {
    const media = await fetched('image', type, bytes);
    assert.deepEqual(told(media), ['image', type, 400, 200]);
    const { format, width, height } = await seen(media.thumbnail);
    assert.deepEqual([format, width, height], ['jpeg', 100, 50]);
  }
});

test('a photo that was taken upright is shown upright, and its thumbnail has no location', async () => {
  const upright = photo
    .clone()
    .withExif({ IFD0: { Copyright: 'me' } })
    .withMetadata({ orientation: 6 });
  for (const format of ['jpeg', 'png'] as const) {
    const bytes = await upright.clone().toFormat(format).toBuffer();
    const media = await fetched('image', `image/${format}`, bytes);
    assert.deepEqual(told(media), ['image', `image/${format}`, 200, 400]);
    const { width, height, exif } = await seen(media.thumbnail);
    assert.deepEqual([width, height, exif], [50, 100, undefined]);
  }
});

test('the first bytes of a file decide its type, not the header', async () => {
  const bytes = await photo.clone().jpeg().toBuffer();
  for (const lie of ['image/png', 'text/html', 'application/octet-stream', ''])
    assert.deepEqual(told(await fetched('image', lie, bytes)), ['image', 'image/jpeg', 400, 200], lie);
  assert.deepEqual(told(await fetched('document', 'text/html', bytes)).slice(0, 2), [
    'document',
    'image/jpeg',
  ]);
  await assert.rejects(fetched('video', 'video/mp4', bytes), /no video/);
  await assert.rejects(fetched('image', 'image/png', FILE_TYPE), /no image/);
});

test('images that phones do not open go as documents', async () => {
  const animated = Buffer.concat([
    Buffer.from('RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\x02', 'latin1'),
    Buffer.alloc(15),
  ]);
  const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>');
  for (const [header, bytes, type] of [
    ['image/webp', await photo.clone().webp().toBuffer(), 'image/webp'],
    ['image/png', animated, 'image/webp'],
    ['image/jpeg', heic, 'image/heic'],
    ['image/svg+xml', svg, 'image/svg+xml'],
    ['image/png', svg, 'application/octet-stream'],
    ['image/gif', await photo.clone().gif().toBuffer(), 'image/gif'],
  ] as const) {
    const media = await fetched('image', header, bytes);
    assert.deepEqual(told(media), ['document', type, undefined, undefined]);
  }
});

test('an animated PNG has a thumbnail of its first frame', async () => {
  const media = await fetched('image', 'image/png', animatedPng(40, 20, [0, 255]));
  assert.deepEqual(told(media), ['image', 'image/png', 40, 20]);
  const { channels } = await sharp(media.thumbnail).stats();
  assert.deepEqual(
    channels.map(({ mean }) => mean),
    [0, 0, 0],
  );
});

test('an image that breaks off goes without a thumbnail, and one without a head as a document', async () => {
  const size = { width: 500, height: 500, channels: 3 } as const;
  const noise = await sharp(randomBytes(750_000), { raw: size }).jpeg().toBuffer();
  const cut = await fetched('image', 'image/jpeg', noise.subarray(0, noise.length / 2));
  assert.deepEqual([told(cut), cut.thumbnail], [['image', 'image/jpeg', 500, 500], undefined]);
  for (const [type, bytes] of [
    ['image/jpeg', noise.subarray(0, 20)],
    ['image/png', png(8, 8).subarray(0, 20)],
    ['image/png', Buffer.from('PNG')],
  ] as const)
    assert.equal((await fetched('image', type, bytes)).sentAs, 'document');
});

test('many images at once all have thumbnails', async () => {
  const bytes = await photo.clone().png().toBuffer();
  const allMedias = await Promise.all(Array.from({ length: 20 }, () => fetched('image', 'image/png', bytes)));
  assert.equal(
    allMedias.every(({ thumbnail }) => thumbnail !== undefined),
    true,
  );
});

test('an MP4 with H.264 goes as a video, with its size and length; any other as a document', async () => {
  const film = Buffer.concat([FILE_TYPE, movie({ width: 640, height: 360, length: 12_400 })]);
  const media = await fetched('video', 'application/octet-stream', film);
  assert.deepEqual([...told(media), media.seconds], ['video', 'video/mp4', 640, 360, 12]);
  const huge = Buffer.concat([FILE_TYPE, boxOfSize('moov', 2n ** 63n, Buffer.alloc(64))]);
  const hevc = Buffer.concat([FILE_TYPE, movie({ width: 8, height: 8, length: 8, codec: 'hvc1' })]);
  for (const bytes of [huge, hevc, FILE_TYPE])
    assert.equal((await fetched('video', 'video/mp4', bytes)).sentAs, 'document');
  assert.deepEqual(
    told(await fetched('video', 'video/webm', Buffer.from('\x1aE\xdf\xa3', 'latin1'))).slice(0, 2),
    ['document', 'video/webm'],
  );
});
