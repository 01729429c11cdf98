import { percentile } from '../harness/percentile.ts';
import { HttpConnection } from './http-connection.ts';

const CONNECTIONS = 16;
/** Interval of checks for due calls, in milliseconds. */
const LOOK_MS = 1;

/** The results of the calls. Latencies in milliseconds, from when each call was due. */
export interface SteadyResult {
  readonly count: number;
  readonly notAnswered2xx: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

/** Repeats calls in rotation at this rate a second, on schedule even without replies, from this process. */
export class SteadyCalls {
  readonly #requests: readonly Buffer[];
  readonly #perSecond: number;
  readonly #connections: readonly HttpConnection[];
  readonly #free: HttpConnection[];
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();
  #latenciesMs: number[] = [];
  #sent = 0;
  #refused = 0;

  /** Opens its connections and begins. A connection that the server closes is an uncaught error. */
  static async start(options: {
    readonly port: number;
    readonly requests: readonly Buffer[];
    readonly perSecond: number;
  }): Promise<SteadyCalls> {
    const lost = (error: Error): never => {
      throw error;
    };
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => HttpConnection.open(options.port, lost)),
    );
    return new SteadyCalls(options, connections);
  }

  private constructor(
    { requests, perSecond }: { readonly requests: readonly Buffer[]; readonly perSecond: number },
    connections: readonly HttpConnection[],
  ) {
    this.#requests = requests;
    this.#perSecond = perSecond;
    this.#connections = connections;
    this.#free = [...connections];
    this.#timer = setInterval(() => this.#send(), LOOK_MS);
  }

  /** Returns the results since the last call of this. */
  take(): SteadyResult {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const result = {
      count: sorted.length,
      notAnswered2xx: this.#refused,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      mostMs: percentile(sorted, 1),
    };
    this.#latenciesMs = [];
    this.#refused = 0;
    return result;
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.close();
  }

  #send(): void {
    const dueCount = Math.floor(((performance.now() - this.#startedMs) * this.#perSecond) / 1_000);
    while (this.#sent < dueCount) {
      const connection = this.#free.shift();
      if (connection === undefined) return;
      this.#sent += 1;
      const dueMs = this.#startedMs + (this.#sent * 1_000) / this.#perSecond;
      connection.send(this.#requests[this.#sent % this.#requests.length] as Buffer, (status) => {
        this.#latenciesMs.push(performance.now() - dueMs);
        if (status < 200 || status > 299) this.#refused += 1;
        this.#free.push(connection);
        this.#send();
      });
    }
  }
}
