import { MINUTE_MS } from '../../runtime/durations.ts';
import type { ApiAnswer, ApiClient } from '../e2e/stack/api-client.ts';
import { until } from '../testbed/waiting.ts';

/** Longer than an operator suspends a tenant, and than faults keep them from letting it go on. */
const SUSPENDED_MS = 3 * MINUTE_MS;

/** A client that asks again while its tenant is suspended. Rejects when that does not end. */
export function patientApi(api: ApiClient): ApiClient {
  const patiently = (ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> =>
    until(
      'the tenant is active',
      async () => {
        const answer = await ask();
        return answer.error?.code !== 'TENANT_INACTIVE' && answer;
      },
      { withinMs: SUSPENDED_MS, everyMs: 200 },
    );
  return {
    get: (path) => patiently(() => api.get(path)),
    post: (path, body) => patiently(() => api.post(path, body)),
    patch: (path, body) => patiently(() => api.patch(path, body)),
    delete: (path, body) => patiently(() => api.delete(path, body)),
    stream: api.stream,
  };
}
