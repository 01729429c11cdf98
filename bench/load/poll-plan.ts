/** The paths that a poller asks for, and how often. */
export interface PollPlan {
  readonly port: number;
  readonly token: string;
  /** All are asked for at the same moment. */
  readonly paths: readonly string[];
  readonly everyMs: number;
  readonly times: number;
}

/** How long each answer took in milliseconds, by path in the plan's order. */
export interface PollResult {
  readonly tookMs: readonly (readonly number[])[];
}
