/** An answer of the API, its envelope opened. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** `data` of a success, else empty. */
  readonly data: Readonly<Record<string, unknown>>;
  /** `error` of a failure. */
  readonly error:
    | {
        readonly code: string;
        readonly message: string;
        readonly retryAfter?: number;
        readonly fields?: readonly { readonly field: string }[];
      }
    | undefined;
}

/** Calls an API with a bearer token; the address is asked each time, since a restarted service has another. */
export interface ApiClient {
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  patch(path: string, body: object): Promise<ApiAnswer>;
  delete(path: string, body?: object): Promise<ApiAnswer>;
  /** Opens a stream of events; the caller ends it. */
  stream(
    path: string,
    options: { readonly lastEventId: string; readonly signal: AbortSignal },
  ): Promise<Response>;
}

/** A client for the API at `baseUrl()`. */
export function apiClient(baseUrl: () => string, token: string): ApiClient {
  const call = async (
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer> => {
    const response = await fetch(baseUrl() + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const envelope = (await response.json()) as { data?: ApiAnswer['data']; error?: ApiAnswer['error'] };
    return {
      status: response.status,
      headers: response.headers,
      data: envelope.data ?? {},
      error: envelope.error,
    };
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path, body) => call('DELETE', path, body),
    stream: (path, { lastEventId, signal }) =>
      fetch(baseUrl() + path, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          'last-event-id': lastEventId,
        },
        signal,
      }),
  };
}
