import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  AttachmentDirectoryUnusable,
  checkAttachmentDirectory,
  sweepAttachments,
} from '../../actors/sessions/attachment-files.ts';

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
    const writtenAt = new Date(NOW_MS - ageMinutes * 60_000);
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
