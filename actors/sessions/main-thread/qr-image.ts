import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import type { Logger } from '../../../runtime/logger.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { threadEntry, threadExecArgv } from './thread-sources.ts';

/** Draws QR codes off the main thread. */
export interface QrImages {
  /** The code as a PNG data URL. Rejects with `NODE_BUSY` if no thread can draw it now. */
  render(text: string): Promise<string>;
  /** Ends the drawing threads. */
  close(): Promise<void>;
}

/** Codes whose image is cached: every poll of a waiting shop needs the same one. */
const REMEMBERED = 200;
/** A drawing thread with nothing to do for this long ends. */
const IDLE_MS = 30_000;

/** When a caller may ask again for a code that no thread could draw. */
const AGAIN_SECONDS = 2;

/** Starts a pool that draws; its threads start with the first code. */
export function startQrImages({ log }: { readonly log: Pick<Logger, 'error'> }): QrImages {
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
  // A thread that cannot start leaves its codes waiting. Without a listener its error would end the process.
  const waitingCallers = new Set<AbortController>();
  pool.on('error', (error) => {
    for (const code of waitingCallers) code.abort(error);
  });
  const draw = async (text: string): Promise<string> => {
    // One for each code: a signal with more than ten listeners makes Node print a warning.
    const code = new AbortController();
    waitingCallers.add(code);
    try {
      return (await pool.run(text, { signal: code.signal })) as string;
    } catch (error) {
      log.error({ err: error }, 'a QR code could not be drawn');
      throw new RuntimeFailure('NODE_BUSY', 'the QR code cannot be drawn now', AGAIN_SECONDS);
    } finally {
      waitingCallers.delete(code);
    }
  };
  const drawnImages = new LRUCache<string, Promise<string>>({ max: REMEMBERED });
  return {
    render(text) {
      const knownImage = drawnImages.get(text);
      if (knownImage !== undefined) return knownImage;
      const image = draw(text);
      drawnImages.set(text, image);
      image.catch(() => drawnImages.delete(text));
      return image;
    },
    async close() {
      await pool.close({ force: true });
    },
  };
}
