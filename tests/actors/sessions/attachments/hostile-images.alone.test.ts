/**
 * Images that are made to take much time or memory. They are sent as images, with their size if it is cheap to read.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import sharp from 'sharp';
import {
  type ImageFacts,
  imageFacts,
} from '../../../../actors/sessions/worker-thread/attachments/image-facts.ts';
import { hasManyScans } from '../../../../actors/sessions/worker-thread/attachments/jpeg-scans.ts';
import { interlacedPng, jpegOfScans, png, pngOfChunks, pngOfTexts } from './media-samples.ts';
import { withSwappedColours } from './swapped-colours.ts';

const directory = mkdtempSync(join(tmpdir(), 'hostile-images-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

function fileOf(bytes: Buffer): string {
  const path = join(directory, String(files++));
  writeFileSync(path, bytes);
  return path;
}

const factsOf = (bytes: Buffer): Promise<ImageFacts | undefined> => imageFacts(fileOf(bytes), 'tenant');

const told = (facts: ImageFacts | undefined): unknown[] => [
  facts?.width,
  facts?.height,
  facts?.thumbnail !== undefined,
];

const MIB = 2 ** 20;
const peakBytes = (): number => process.resourceUsage().maxRSS * 1_024;

test('texts of a PNG that inflate to a thousand times their size are not read', async () => {
  const bytes = pngOfTexts(20, 7_900_000);
  await factsOf(png(8, 8));
  const before = peakBytes();
  assert.deepEqual(told(await factsOf(bytes)), [8, 8, true]);
  const grown = (peakBytes() - before) / MIB;
  assert.ok(grown < 100, `${grown.toFixed(0)} MiB`);
});

test('a PNG with too many chunks is not read', async () => {
  assert.deepEqual(told(await factsOf(pngOfChunks(19_000))), [8, 8, true]);
  assert.deepEqual(told(await factsOf(pngOfChunks(20_000))), [undefined, undefined, false]);
});

test('a bomb of pixels, or of the pixels of one row or column, has no thumbnail', async () => {
  for (const [width, height] of [
    [60_000, 60_000],
    [30_000, 1_000],
    [70_000, 1],
    [1, 70_000],
  ] as const) {
    const bytes = png(width, height, width * height < 2 ** 30);
    assert.deepEqual(told(await factsOf(bytes)), [width, height, false]);
  }
  assert.deepEqual(told(await factsOf(png(65_535, 1))), [65_535, 1, true]);
});

test('an interlaced image of 16 bits is bounded like any other', async () => {
  assert.deepEqual(told(await factsOf(interlacedPng(400, 200))), [400, 200, true]);
  assert.deepEqual(told(await factsOf(interlacedPng(5_001, 5_000))), [5_001, 5_000, false]);
});

test('a JPEG has a thumbnail up to 100 scans, and fewer of many pixels', async () => {
  assert.deepEqual(told(await factsOf(jpegOfScans(50))), [8, 8, true]);
  const behind = Buffer.concat([jpegOfScans(50), ...Array<Buffer>(500).fill(Buffer.from('ffda', 'hex'))]);
  assert.deepEqual(told(await factsOf(behind)), [8, 8, true], 'what follows the image is no scan');
  assert.deepEqual(told(await factsOf(jpegOfScans(500))), [8, 8, false]);
  assert.deepEqual(told(await factsOf(jpegOfScans(20, 2_000))), [2_000, 2_000, true]);
  assert.deepEqual(told(await factsOf(jpegOfScans(21, 5_000))), [5_000, 5_000, false]);
});

test('scans are found behind bytes that decoders pass over, and a flood of marker bytes ends the search', () => {
  const many = jpegOfScans(500);
  const scan = many.indexOf(Buffer.from('ffda', 'hex'));
  const padded = Buffer.concat([many.subarray(0, scan), Buffer.alloc(1), many.subarray(scan)]);
  assert.equal(hasManyScans(padded, 100), true);
  assert.equal(hasManyScans(jpegOfScans(50), 100), false);
  const flood = Buffer.concat([jpegOfScans(1).subarray(0, -2), Buffer.from('ff00'.repeat(300_000), 'hex')]);
  assert.equal(hasManyScans(flood, 100), true);
});

test('an arithmetic-coded JPEG, which takes long with few bytes, has no thumbnail', () => {
  const bytes = jpegOfScans(1);
  const frame = bytes.indexOf(Buffer.from('ffc2', 'hex'));
  bytes[frame + 1] = 0xca;
  assert.equal(hasManyScans(bytes, 100), true);
});

test('a colour profile counts up to 1,024 bytes, because a large one may take a minute', async () => {
  const red = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#ff0000' } })
    .jpeg()
    .toBuffer();
  for (const [bytes, dominant] of [
    [1_024, 'blue'],
    [1_025, 'red'],
  ] as const) {
    const facts = await factsOf(withSwappedColours(red, bytes));
    const { channels } = await sharp(facts?.thumbnail).stats();
    const [r = 0, , b = 0] = channels.map(({ mean }) => mean);
    assert.equal(r > b ? 'red' : 'blue', dominant, `${bytes} bytes`);
  }
});

test('an image waits for one image of another tenant at most, however many that tenant sends', async () => {
  const path = fileOf(png(400, 200));
  const done: string[] = [];
  await Promise.all(
    ['first', 'first', 'first', 'other'].map(async (tenantId) => {
      await imageFacts(path, tenantId);
      done.push(tenantId);
    }),
  );
  assert.deepEqual(done, ['first', 'other', 'first', 'first']);
});

test('files of others are read while slow images of many tenants are decoded, one at a time', async () => {
  const path = fileOf(interlacedPng(5_000, 5_000));
  const beganMs = performance.now();
  let isDone = false;
  const images = Array.from({ length: 8 }, (_, index) => imageFacts(path, `tenant-${index}`));
  const first = Promise.race(images).then(() => {
    isDone = true;
    return performance.now() - beganMs;
  });
  let longestMs = 0;
  while (!isDone) {
    const askedMs = performance.now();
    await stat(path);
    longestMs = Math.max(longestMs, performance.now() - askedMs);
  }
  const imageMs = await first;
  await Promise.all(images);
  assert.ok(longestMs < imageMs / 2, `a file took ${longestMs} ms, an image ${imageMs} ms`);
});
