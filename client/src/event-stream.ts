import { dataOf } from './answer.ts';
import { ApiError } from './api-error.ts';
import { apiRequest } from './api-request.ts';
import type { ClientSettings } from './client-options.ts';
import type { ErrorCode, Event } from './operations.ts';
import { serverSentEvents } from './server-sent-events.ts';

/** Events a page of the stream: the most that the API gives. */
const LIMIT = 100;

/** One connection of a stream of events: what it asks for. */
export interface StreamOptions {
  readonly baseUrl: string;
  readonly requestId: string;
  /** Goes on behind this cursor; without one, from now on. */
  readonly cursor: string | undefined;
  readonly types: string | undefined;
  readonly shop: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What a stream tells: the cursor behind all that came before, with the event that it is behind of, or how long to stay away. */
export interface StreamItem {
  readonly cursor?: string | undefined;
  readonly event?: Event | undefined;
  /** Milliseconds before a new connection, once this one is lost. */
  readonly retryMs?: number | undefined;
}

/**
 * The events of one connection, until it ends: rejects with an `ApiError` then, or with the signal's reason, and returns only
 * where the service knows no streams. Silent for `tryTimeoutMs`, it is taken for dead: the service writes each five seconds.
 */
export async function* eventStream(
  settings: ClientSettings,
  options: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  const { requestId, signal, types, shop, cursor } = options;
  const { path } = apiRequest('listEvents', { types, shop, limit: LIMIT }, settings.newId);
  const connection = new AbortController();
  const end = (): void => connection.abort(signal?.reason);
  let isSilent = false;
  const within = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const timer = settings.clock.after(settings.tryTimeoutMs, () => {
      isSilent = true;
      connection.abort();
    });
    try {
      return await work();
    } catch (cause) {
      signal?.throwIfAborted();
      const [code, reason] = isSilent
        ? (['TIMEOUT', 'the stream of events is silent'] as const)
        : (['NO_ANSWER', 'the connection failed'] as const);
      throw new ApiError({ code, reason, requestId, cause });
    } finally {
      timer.cancel();
    }
  };
  signal?.throwIfAborted();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const response = await within(() =>
      settings.fetch(`${options.baseUrl}${path}`, {
        headers: {
          authorization: `Bearer ${settings.apiKey}`,
          accept: 'text/event-stream',
          'x-request-id': requestId,
          ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
        },
        redirect: 'manual',
        signal: connection.signal,
      }),
    );
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.status !== 200 || !isStream || response.body === null) {
      dataOf(response, await within(() => response.text()), requestId);
      return;
    }
    const reader = response.body.getReader();
    for await (const { id, type, data, retryMs } of serverSentEvents(() => within(() => reader.read()))) {
      if (type === 'end') throw ended(data, requestId);
      yield { cursor: id, event: data === undefined ? undefined : (JSON.parse(data) as Event), retryMs };
    }
    throw new ApiError({ code: 'NO_ANSWER', reason: 'the stream of events ended', requestId });
  } finally {
    signal?.removeEventListener('abort', end);
    connection.abort();
  }
}

/** Why the service ended a stream for good. */
function ended(data: string | undefined, requestId: string): ApiError {
  const { code, message, ...details } = JSON.parse(data ?? '{}') as {
    readonly code: ErrorCode;
    readonly message: string;
    readonly nextCursor?: string;
  };
  return new ApiError({ code, reason: message, requestId, ...details });
}
