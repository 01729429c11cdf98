import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  readMp4Head,
  type VideoFacts,
} from '../../../../actors/sessions/worker-thread/attachments/mp4-head.ts';
import { box, boxOfSize, FILE_TYPE, movie } from './media-samples.ts';

const directory = mkdtempSync(join(tmpdir(), 'mp4-head-'));
after(() => rmSync(directory, { recursive: true }));

async function read(...parts: readonly Buffer[]): Promise<VideoFacts | undefined> {
  const path = join(directory, 'film');
  writeFileSync(path, Buffer.concat(parts));
  return await readMp4Head(path);
}

const film = movie({ width: 640, height: 360, length: 12_400 });
const FACTS = { width: 640, height: 360, seconds: 12 };

test('size and length of a film are read, wherever its head is', async () => {
  assert.deepEqual(await read(FILE_TYPE, film, box('mdat', Buffer.alloc(9_000))), FACTS);
  assert.deepEqual(await read(FILE_TYPE, boxOfSize('mdat', 9_016n, Buffer.alloc(9_000)), film), FACTS);
});

test('a film that a phone recorded upright is higher than wide', async () => {
  const upright = movie({ width: 640, height: 360, length: 500, isTurned: true });
  assert.deepEqual(await read(FILE_TYPE, upright), { width: 360, height: 640, seconds: 1 });
});

test('a head without size and length leaves them unknown', async () => {
  const bare = movie({ width: 0, height: 0, length: 0 });
  assert.deepEqual(await read(FILE_TYPE, bare), { width: undefined, height: undefined, seconds: undefined });
});

test('a film in another coding, or without a head, is none that phones open', async () => {
  assert.equal(await read(FILE_TYPE, movie({ width: 8, height: 8, length: 8, codec: 'hvc1' })), undefined);
  assert.equal(await read(FILE_TYPE), undefined);
  assert.equal(await read(Buffer.alloc(0)), undefined);
});

test('impossible sizes of boxes end the reading', async () => {
  const huge = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from('free')]);
  const tiny = Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from('free')]);
  for (const brokenBytes of [
    huge,
    tiny,
    boxOfSize('free', 2n ** 64n - 1n, Buffer.alloc(0)),
    film.subarray(0, 150),
  ])
    assert.equal(await read(FILE_TYPE, brokenBytes, film), undefined);
});

test('a file of a hundred thousand boxes is not read to its end', async () => {
  const boxes = Buffer.alloc(800_000, box('free'));
  assert.equal(await read(FILE_TYPE, boxes, film), undefined);
});
