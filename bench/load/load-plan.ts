/** How many messages a warm shop may send within an hour (docs/contract.md, Messages to numbers: a sixth of 250). */
export const MESSAGES_PER_SHOP = 41;

/** A shop that takes messages, and the key that may send for it. */
export interface BenchShop {
  readonly id: string;
  readonly tenantId: string;
  readonly key: string;
}

/** The requests of a load. */
export type Requests =
  | { readonly kind: 'me'; readonly keys: readonly string[] }
  | { readonly kind: 'channel'; readonly shops: readonly BenchShop[] }
  | {
      readonly kind: 'read';
      readonly messages: readonly { readonly id: string; readonly key: string }[];
      /** True if each is read once, and the load ends after the last. Otherwise they repeat. */
      readonly once?: boolean;
    }
  | {
      readonly kind: 'send';
      readonly shops: readonly BenchShop[];
      readonly recipients: readonly string[];
      /** How many the shops took before, so that no text comes twice and no recipient too soon. */
      readonly from: number;
      /** The side keeps no caps, so its shops may be gone round again. */
      readonly isUnbounded: boolean;
    };

/** One load: its requests, their recipients, the rate and the duration. */
export interface LoadPlan {
  /** Connections are dealt out among them. */
  readonly ports: readonly number[];
  readonly connections: number;
  /**
   * Requests a second, sent on schedule even if the server does not keep up. If absent, each connection sends as fast
   * as it can.
   */
  readonly ratePerSecond?: number | undefined;
  readonly warmupMs: number;
  readonly durationMs: number;
  /** Ends the load of a closed loop after this number of requests, if they are answered before the time is over. */
  readonly atMost?: number | undefined;
  /** Sends: how many ids of the last replies to return; default 1,000. */
  readonly keptMessages?: number | undefined;
  /**
   * True if the load asks for more than can be done. `503 OVERLOADED` with `Retry-After` is then an answer, which is
   * counted apart from the rest.
   */
  readonly mayOverload?: boolean | undefined;
  readonly requests: Requests;
  /** Processes whose CPU time is read when the measured part begins and ends. */
  readonly watch: Readonly<Record<string, number>>;
}

/**
 * The result of a load. Latencies in milliseconds: from the scheduled moment if there is a rate, else from the write.
 */
export interface LoadResult {
  readonly requests: number;
  /** The time until the last answer. If the side cannot keep the schedule, that is long after the last call was due. */
  readonly durationMs: number;
  readonly perSecond: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly latencyMs: Readonly<Record<'p50' | 'p90' | 'p99' | 'p999' | 'max', number>>;
  /** Like `latencyMs.p99`, from the write: without the wait for a free connection. */
  readonly p99FromWriteMs: number;
  /** Replies `503 OVERLOADED`, if the plan allows them; not among `requests`. */
  readonly overloaded: {
    readonly count: number;
    readonly p99Ms: number;
    /** From the start of the load to the last one; 0 if there was none. */
    readonly lastMs: number;
  };
  /** p99 of each tenth of the measured time: whether it drifts. */
  readonly p99ByTenthMs: readonly number[];
  /** CPU time of each watched process and of this client, in milliseconds. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Resident memory of each watched process at the end, in MiB. */
  readonly residentMiB: Readonly<Record<string, number>>;
  /** The most the first watched process had, looked at once a second, in MiB. */
  readonly mostResidentMiB: number;
  /** Sends: how many were made in all, the warm-up included. */
  readonly made: number;
  /** Ids from the replies of the last sends, at most `keptMessages`, oldest first, with their keys. */
  readonly messages: readonly { readonly id: string; readonly key: string }[];
}
