/** The hostile caller: a stranger without a key, or a tenant that uses its whole limit. */
export type HostilePlan =
  | {
      readonly kind: 'stranger';
      readonly port: number;
      readonly connections: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'tenant';
      readonly port: number;
      readonly key: string;
      readonly shopIds: readonly string[];
      /** Calls a minute that the key has. */
      readonly callsPerMinute: number;
      readonly durationMs: number;
    };

/** The result of the hostile traffic. */
export interface HostileResult {
  readonly requests: number;
  /** Connections that the service ended, or that could not be had. */
  readonly ended: number;
}
