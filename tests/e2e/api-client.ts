/** An answer of the API, its envelope opened. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** `data` of a success, else empty. */
  readonly data: Readonly<Record<string, unknown>>;
  /** `error` of a failure. */
  readonly error:
    | { readonly code: string; readonly message: string; readonly retryAfter?: number }
    | undefined;
}

/** Calls an API with a bearer token; the address is asked each time, since a restarted service has another. */
export interface ApiClient {
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: object): Promise<ApiAnswer>;
  patch(path: string, body: object): Promise<ApiAnswer>;
  delete(path: string, body?: object): Promise<ApiAnswer>;
}

/** A client for the API at `baseUrl()`. */
export function apiClient(baseUrl: () => string, token: string): ApiClient {
  const call = async (method: string, path: string, body?: object): Promise<ApiAnswer> => {
    const response = await fetch(baseUrl() + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
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
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path, body) => call('DELETE', path, body),
  };
}
