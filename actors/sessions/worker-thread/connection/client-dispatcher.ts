import type { UserFacingSocketConfig } from '@whiskeysockets/baileys';
import { wholeOf } from '../../../outbound/guarded-request.ts';
import { askNetworkFile, type DownloadBounds, DownloadRefused } from '../../../outbound/network-file.ts';

/**
 * The largest file that the client downloads by itself, in bytes. It is a snapshot of the account's own name and
 * language, and has a few hundred. The client makes an object of every two bytes of it.
 */
const MOST_BYTES = 256 * 1024;

/** The time of one download, in milliseconds. */
const DOWNLOAD_MS = 30_000;

/**
 * The request that the client's `fetch` makes of a dispatcher (undici's Dispatcher.DispatchOptions, as far as it is
 * used).
 */
interface DownloadRequest {
  readonly path: string;
  readonly method: string;
}

/** The handlers that a dispatcher calls (undici's Dispatcher.DispatchHandlers, as Node 20 and 22 have them). */
interface DownloadHandlers {
  onConnect?(abort: () => void): void;
  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(trailers: Buffer[]): void;
  onError(error: Error): void;
}

/** The type that the client's option takes. */
type ClientDispatcher = NonNullable<NonNullable<UserFacingSocketConfig['options']>['dispatcher']>;

/**
 * Returns a dispatcher of undici for all downloads of the client, for its `options`. It downloads only from the
 * network's own hosts, for any address that the client requests, and is bounded (`askNetworkFile`).
 */
export function clientDispatcher(bounds: DownloadBounds): ClientDispatcher {
  const dispatcher = {
    dispatch(request: DownloadRequest, handlers: DownloadHandlers): boolean {
      const end = new AbortController();
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(DOWNLOAD_MS)]);
      handlers.onConnect?.(() => end.abort());
      answer(request, handlers, { bounds, signal }).catch((error: unknown) => {
        end.abort();
        handlers.onError(error instanceof Error ? error : new Error(String(error)));
      });
      return true;
    },
  };
  // Node's fetch calls this one method of a dispatcher.
  return dispatcher as unknown as ClientDispatcher;
}

async function answer(
  { path, method }: DownloadRequest,
  handlers: DownloadHandlers,
  { bounds, signal }: { readonly bounds: DownloadBounds; readonly signal: AbortSignal },
): Promise<void> {
  if (method !== 'GET') throw new DownloadRefused('the client may only download');
  const response = await askNetworkFile(path, bounds, { maxBytes: MOST_BYTES, signal });
  const bytes = await wholeOf(response, MOST_BYTES);
  if (bytes === undefined) throw new DownloadRefused('the file is too large');
  handlers.onHeaders(200, [], () => undefined, 'OK');
  handlers.onData(bytes);
  handlers.onComplete([]);
}
