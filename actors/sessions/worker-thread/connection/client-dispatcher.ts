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

/** Controls a request for its handlers (undici's Dispatcher.DispatchController, as far as fetch uses it). */
interface DownloadController {
  readonly rawHeaders: readonly Buffer[];
  abort(): void;
  pause(): void;
  resume(): void;
}

/** The handlers that a dispatcher calls (undici's Dispatcher.DispatchHandler). Node 26 has only these. */
interface DownloadHandlers {
  onRequestStart(controller: DownloadController, context: object): void;
  onResponseStart(controller: DownloadController, status: number, headers: object, statusText: string): void;
  onResponseData(controller: DownloadController, chunk: Buffer): void;
  onResponseEnd(controller: DownloadController, trailers: object): void;
  onResponseError(controller: DownloadController, error: Error): void;
}

/** The handlers of Node 20, 22 and 24. */
interface FormerHandlers {
  onConnect?(abort: () => void): void;
  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(trailers: Buffer[]): void;
  onError(error: Error): void;
}

function presentHandlers(handlers: DownloadHandlers | FormerHandlers): DownloadHandlers {
  if ('onRequestStart' in handlers) return handlers;
  return {
    onRequestStart: ({ abort }) => handlers.onConnect?.(abort),
    onResponseStart: ({ resume }, status, _headers, statusText) => {
      handlers.onHeaders(status, [], resume, statusText);
    },
    onResponseData: (_controller, chunk) => {
      handlers.onData(chunk);
    },
    onResponseEnd: () => handlers.onComplete([]),
    onResponseError: (_controller, error) => handlers.onError(error),
  };
}

/** The type that the client's option takes. */
type ClientDispatcher = NonNullable<NonNullable<UserFacingSocketConfig['options']>['dispatcher']>;

/**
 * Returns a dispatcher of undici for all downloads of the client, for its `options`. It downloads only from the
 * network's own hosts, for any address that the client requests, and is bounded (`askNetworkFile`).
 */
export function clientDispatcher(bounds: DownloadBounds): ClientDispatcher {
  const dispatcher = {
    dispatch(request: DownloadRequest, givenHandlers: DownloadHandlers | FormerHandlers): boolean {
      const handlers = presentHandlers(givenHandlers);
      const end = new AbortController();
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(DOWNLOAD_MS)]);
      // The file is small and here as a whole, so nothing waits.
      const nothing = (): void => undefined;
      const controller = { rawHeaders: [], abort: () => end.abort(), pause: nothing, resume: nothing };
      handlers.onRequestStart(controller, {});
      download(request, { bounds, signal })
        .then((bytes) => {
          handlers.onResponseStart(controller, 200, {}, 'OK');
          handlers.onResponseData(controller, bytes);
          handlers.onResponseEnd(controller, {});
        })
        .catch((error: unknown) => {
          end.abort();
          handlers.onResponseError(controller, error instanceof Error ? error : new Error(String(error)));
        });
      return true;
    },
  };
  // Node's fetch calls this one method of a dispatcher.
  return dispatcher as unknown as ClientDispatcher;
}

async function download(
  { path, method }: DownloadRequest,
  { bounds, signal }: { readonly bounds: DownloadBounds; readonly signal: AbortSignal },
): Promise<Buffer> {
  if (method !== 'GET') throw new DownloadRefused('the client may only download');
  const response = await askNetworkFile(path, bounds, { maxBytes: MOST_BYTES, signal });
  const bytes = await wholeOf(response, MOST_BYTES);
  if (bytes === undefined) throw new DownloadRefused('the file is too large');
  return bytes;
}
