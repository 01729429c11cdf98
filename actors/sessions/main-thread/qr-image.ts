import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { threadEntry, threadExecArgv } from './thread-sources.ts';

/** Draws QR codes off the main thread. */
export interface QrImages {
  /** The code as a PNG data URL. Rejects after `close`. */
  render(text: string): Promise<string>;
  /** Ends the drawing threads. */
  close(): Promise<void>;
}

/** Codes whose image is cached: every poll of a waiting shop needs the same one. */
const REMEMBERED = 200;
/** A drawing thread with nothing to do for this long ends. */
const IDLE_MS = 30_000;

/** Starts a pool that draws; its threads start with the first code. */
export function startQrImages(): QrImages {
  const entry = threadEntry(import.meta.url, './qr-image-worker');
  const execArgv = threadExecArgv(entry);
  const pool = new Piscina({
    filename: entry.href,
    minThreads: 0,
    name: 'drawQrImage',
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    ...(execArgv === undefined ? {} : { execArgv }),
  });
  const drawn = new LRUCache<string, Promise<string>>({ max: REMEMBERED });
  return {
    render(text) {
      const known = drawn.get(text);
      if (known !== undefined) return known;
      const image = pool.run(text) as Promise<string>;
      drawn.set(text, image);
      image.catch(() => drawn.delete(text));
      return image;
    },
    async close() {
      await pool.close({ force: true });
    },
  };
}
