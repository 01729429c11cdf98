import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a few MiB in memory. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills it completely. */
  fill(): void;
  /** Frees the space. */
  free(): void;
  /** Removes it, with all that is on it. */
  remove(): void;
}

/** Mounts one. Throws where this process may not mount, which takes root. */
export function smallDisk(mebibytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      // The pages of a file that was cut short are written as far as they fit.
      for (let bytes = mebibytes * 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) {
        try {
          writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove() {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
