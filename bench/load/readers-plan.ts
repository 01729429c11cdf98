/** Readers that wait for events like the client package, each with its own connection. */
export interface ReadersPlan {
  readonly port: number;
  /** Reads an open reply (server-sent events) instead of call after call. */
  readonly isStream: boolean;
  /** A reader each, one key as often as it has readers. */
  readonly keys: readonly string[];
  /** How long a call asks to wait. */
  readonly waitMs: number;
  /** Shortest time from one call of a reader to its next. */
  readonly gapMs: number;
  /** The time over which the readers come. */
  readonly arriveMs: number;
  readonly durationMs: number;
}

/** The result of the readers. */
export interface ReadersResult {
  readonly answers: number;
  /** The replies other than 200. */
  readonly refusals: number;
  /** Connections that the service ended, or that could not be had. */
  readonly ended: number;
  /** CPU time of the readers' process, in milliseconds. */
  readonly cpuMs: number;
}
