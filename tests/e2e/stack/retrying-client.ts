import { pause } from '../../testbed/waiting.ts';
import { type ApiAnswer, type ApiClient, apiClient } from './api-client.ts';

/** Counts of a retrying client. */
export interface Counters {
  requests: number;
  /** Requests that were asked again, each as often as it was. */
  retries: number;
}

const WAIT_MS = 100;
const PATIENCE_MS = 40_000;

/**
 * A client like that of a careful tenant. Each request goes to the next node. One that was cut off or answered 503 goes
 * to the node after it a moment later. It fails only after a time without an answer, by default 40 s.
 */
export function retryingClient(options: {
  /** Base addresses of all nodes, those that are away too. */
  readonly addresses: () => readonly string[];
  readonly token: string;
  readonly counters: Counters;
  readonly patienceMs?: number | undefined;
}): ApiClient {
  const { addresses, token, counters, patienceMs = PATIENCE_MS } = options;
  let turn = 0;
  const nextAddress = (): string => {
    const all = addresses();
    turn += 1;
    return all[turn % all.length] ?? '';
  };
  const client = apiClient(nextAddress, token);
  const again = async (ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> => {
    counters.requests += 1;
    const endMs = performance.now() + patienceMs;
    for (;;) {
      const outcome = await ask().catch((error: Error) => error);
      const refused = outcome instanceof Error || outcome.status === 503;
      if (!refused) return outcome;
      if (performance.now() > endMs) {
        throw new Error('nobody answered', {
          cause: outcome instanceof Error ? outcome : outcome.error,
        });
      }
      counters.retries += 1;
      await pause(WAIT_MS);
    }
  };
  return {
    get: (path) => again(() => client.get(path)),
    post: (path, body) => again(() => client.post(path, body)),
    patch: (path, body) => again(() => client.patch(path, body)),
    delete: (path, body) => again(() => client.delete(path, body)),
    stream: client.stream,
  };
}
