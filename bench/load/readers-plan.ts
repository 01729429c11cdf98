/** Readers who wait for events, as the client package does: each with a connection of its own. */
export interface ReadersPlan {
  readonly port: number;
  /** Reads an open reply (server-sent events) in place of call after call. */
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

/** What the readers met with. */
export interface ReadersResult {
  readonly answers: number;
  /** Of them those other than 200. */
  readonly refusals: number;
  /** Connections that the service ended, or that could not be had. */
  readonly ended: number;
  /** CPU time of the readers' process, in milliseconds. */
  readonly cpuMs: number;
}
