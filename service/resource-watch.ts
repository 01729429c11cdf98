import { openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { ArmedTimer, Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

/** How much of a bounded resource the process has, and how much it may have. */
export interface ResourceUse {
  readonly used: number;
  readonly most: number;
}

/** Reads the use of a resource. Resolves with undefined if it is unknown now. */
export type ReadUse = () => Promise<ResourceUse | undefined>;

const LIMITS_BYTES = 4_096;

/**
 * Returns a function that counts the open descriptors. It reads the limit each time, because `prlimit` may change it
 * while the process runs. Without `/proc` the use is unknown.
 */
export function descriptorCount(): ReadUse {
  // Kept open for the life of the process: when no descriptor is left, the file could not be opened.
  const limits = openedIfPresent('/proc/self/limits');
  if (limits === undefined) return async () => undefined;
  const buffer = Buffer.alloc(LIMITS_BYTES);
  return async () => {
    const text = buffer.toString('latin1', 0, readSync(limits, buffer, 0, LIMITS_BYTES, 0));
    const mostFiles = Number(/^Max open files +(\d+)/m.exec(text)?.[1] ?? Number.POSITIVE_INFINITY);
    try {
      // The folder itself is open while it is read.
      return { used: (await readdir('/proc/self/fd')).length - 1, most: mostFiles };
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EMFILE'
        ? { used: mostFiles, most: mostFiles }
        : undefined;
    }
  };
}

/** Opens a file and returns its descriptor. Undefined if it cannot be opened. */
function openedIfPresent(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

/** Reads the resident memory. That takes a descriptor, so it is unknown while none is left. */
export const memoryUse: ReadUse = async () => {
  try {
    return { used: process.memoryUsage.rss(), most: memoryLimitBytes() };
  } catch {
    return undefined;
  }
};

/** Returns the memory that the process may use, in bytes. Without a limit, Node reports 0 or more than there is. */
export function memoryLimitBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Between two looks. With 10,000 open descriptors a look takes another thread some milliseconds. */
const EVERY_MS = 5_000;
/** A warning is logged above the first share, and again only after the use was below the second. */
const WARNED_ABOVE = 0.9;
const FORGOTTEN_BELOW = 0.8;

/** A resource, the warning about it, and what is called with the used share at each look. */
export interface WatchedResource {
  readonly warning: string;
  readonly read: ReadUse;
  readonly onSeen?: (share: number) => void;
}

/** Logs a resource's warning once when the process has nearly used it up. */
export function watchResources(options: {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly resources: readonly WatchedResource[];
}): { stop(): void } {
  const { clock, log, resources } = options;
  const warnedNames = new Set<string>();
  let isStopped = false;
  let timer: ArmedTimer | undefined;
  const look = async (): Promise<void> => {
    for (const { warning, read, onSeen } of resources) {
      const use = await read();
      if (use === undefined) continue;
      const share = use.used / use.most;
      onSeen?.(share);
      if (share < FORGOTTEN_BELOW) warnedNames.delete(warning);
      if (share <= WARNED_ABOVE || warnedNames.has(warning)) continue;
      warnedNames.add(warning);
      log.warn(use, warning);
    }
    arm();
  };
  const arm = (): void => {
    if (!isStopped) timer = clock.after(EVERY_MS, () => void look());
  };
  arm();
  return {
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
