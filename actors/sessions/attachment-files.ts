/**
 * The files of attachments while they are sent, in the system's directory for temporary files (`TMPDIR`, else /tmp).
 * The chat client encrypts an attachment into its own file in the same directory and uploads that, so it needs a file.
 */

import { randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Logger } from '../../runtime/logger.ts';

/** The names of the service's own files, and of the encrypted copies that the client makes (its `encryptedStream`). */
const OURS = /^attachment-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const THE_CLIENTS = /^(?:image|video|document)3EB0[0-9A-F]{18}-enc$/;

/** The age at which no session can be using a file, counted from its last write: an upload ends in 60 s. */
const STALE_MS = 10 * MINUTE_MS;

/** The directory for temporary files accepts none. The message names the remedy. */
export class AttachmentDirectoryUnusable extends Error {
  readonly code = 'ATTACHMENT_DIRECTORY_UNUSABLE';

  constructor(directory: string, cause: unknown) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    super(
      `no file can be written in ${directory} (${code}), where attachments lie while they are sent; ` +
        'mount a directory there (docker run --tmpfs /tmp) or let TMPDIR name another one',
      { cause },
    );
  }
}

/** True if a failure is that of a file into which an attachment, or the client's copy of one, was written. */
export function isAttachmentFailure(error: NodeJS.ErrnoException): boolean {
  const name = basename(error.path ?? '');
  return OURS.test(name) || THE_CLIENTS.test(name) || (error.code === 'ENOSPC' && error.syscall === 'write');
}

/** Returns a path for a new attachment that no other has. */
export function newAttachmentPath(directory = tmpdir()): string {
  return join(directory, `attachment-${randomUUID()}`);
}

/**
 * Writes a file and removes it. Rejects with `AttachmentDirectoryUnusable`: without the directory every message with an
 * attachment would fail, one by one and hours later.
 */
export async function checkAttachmentDirectory(directory = tmpdir()): Promise<void> {
  const path = join(directory, `attachment-${randomUUID()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile('x');
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  } catch (error) {
    throw new AttachmentDirectoryUnusable(directory, error);
  }
}

/**
 * Removes the files in `directory` that killed processes left, and resolves with their number. It takes files of this
 * user with the names of attachments, last written 10 minutes before `nowMs` (wall clock) or earlier. A file that
 * cannot be read or removed is left.
 */
export async function sweepAttachments(nowMs: number, directory = tmpdir()): Promise<number> {
  const names = await readdir(directory);
  let removedCount = 0;
  for (const name of names.filter((fileName) => OURS.test(fileName) || THE_CLIENTS.test(fileName))) {
    const path = join(directory, name);
    try {
      const { uid, mtimeMs } = await stat(path);
      if (uid !== process.getuid?.() || nowMs - mtimeMs < STALE_MS) continue;
      await rm(path);
      removedCount += 1;
    } catch {
      // Another process of ours sweeps the same directory, or it is not a file.
    }
  }
  return removedCount;
}

/** Sweeps at once and every 10 minutes. Files of a killed process are not old enough yet when the next one starts. */
export function keepSwept(
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, 'info' | 'warn'> },
  directory = tmpdir(),
): { stop(): void } {
  let timer: { cancel(): void } | undefined;
  const sweep = async (): Promise<void> => {
    try {
      const removedCount = await sweepAttachments(clock.wallMs(), directory);
      if (removedCount > 0)
        log.info({ removed: removedCount }, 'removed attachments that a killed process left');
    } catch (error) {
      log.warn({ err: error }, 'the directory of attachments could not be read');
    }
  };
  const sweepAgain = (): void => {
    timer = clock.after(STALE_MS, sweepAgain);
    void sweep();
  };
  sweepAgain();
  return { stop: () => timer?.cancel() };
}
