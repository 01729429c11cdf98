import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  AttachmentDirectoryUnusable,
  checkAttachmentDirectory,
  keepSwept,
  sweepAttachments,
} from '../../../actors/sessions/attachment-files.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
const directory = mkdtempSync(join(tmpdir(), 'attachment-files-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('a directory that takes files is left as it was', async () => {
  await checkAttachmentDirectory(directory);
  assert.deepEqual(readdirSync(directory), []);
});

test('a directory that takes no file is named, with a remedy', async () => {
  await assert.rejects(checkAttachmentDirectory(join(directory, 'missing')), (error: Error) => {
    assert.ok(error instanceof AttachmentDirectoryUnusable);
    assert.match(error.message, /missing \(ENOENT\).*--tmpfs \/tmp.*TMPDIR/);
    return true;
  });
});

test('only stale files with the names of attachments are swept, the client’s encrypted copies among them', async () => {
  const put = (name: string, ageMinutes: number): string => {
    const path = join(directory, name);
    writeFileSync(path, 'x');
    const writtenAt = new Date(NOW_MS - ageMinutes * MINUTE_MS);
    utimesSync(path, writtenAt, writtenAt);
    return path;
  };
  const client = 'image3EB0ABCDEF0123456789AB-enc';
  const gone = [
    put(`attachment-${randomUUID()}`, 10),
    put(client, 11),
    put(client.replace('image', 'document'), 600),
  ];
  const kept = [
    put(`attachment-${randomUUID()}`, 9),
    put(client.replace('image', 'video'), 9),
    put('attachment-of-somebody-else', 600),
    put(`my-attachment-${randomUUID()}`, 600),
    put('image3EB0.png', 600),
  ];
  const folder = join(directory, `attachment-${randomUUID()}`);
  mkdirSync(folder);
  utimesSync(folder, new Date(0), new Date(0));
  assert.equal(await sweepAttachments(NOW_MS, directory), gone.length);
  assert.deepEqual([...gone, ...kept, folder].filter(existsSync), [...kept, folder]);
});

test('files that a killed process left go also if they are not stale yet when the next one starts', async () => {
  const clock = new FakeClock();
  const folder = mkdtempSync(join(directory, 'swept-'));
  let swept = (_fields: object): void => undefined;
  const log = { info: (fields: object) => swept(fields), warn: () => undefined };
  const sweeping = keepSwept({ clock, log }, folder);
  for (let round = 1; round <= 2; round += 1) {
    const path = join(folder, `attachment-${randomUUID()}`);
    writeFileSync(path, 'x');
    utimesSync(path, clock.wallMs() / 1_000, clock.wallMs() / 1_000);
    const told = deferred<object>();
    swept = told.resolve;
    await clock.advance(10 * MINUTE_MS);
    assert.deepEqual(await told.promise, { removed: 1 });
    assert.ok(!existsSync(path));
  }
  sweeping.stop();
});
