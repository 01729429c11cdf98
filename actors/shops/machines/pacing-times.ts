import { MINUTE_MS } from '../../../runtime/durations.ts';

/** The times and random spread of pacing; milliseconds. */
export interface PacingTimes {
  /** The gap between two sends is uniform between these (docs/contract.md, Enforced in the sending component). */
  readonly sendGap: { readonly minMs: number; readonly maxMs: number };
  /** The pause after a rate signal (docs/contract.md, Enforced in the sending component). `CODE_PAUSE_MS` equals it. */
  readonly pauseMs: number;
  /**
   * After this long a message that is not prepared is put back. Longer than the session's own deadlines for that,
   * together with its waits for slots.
   */
  readonly preparingMs: number;
  /**
   * After this long without an outcome, a send counts as unknown. Longer than the session's own deadline.
   */
  readonly outcomeMs: number;
}

/** The durations of pacing that no setting changes, in milliseconds. */
export const PACING_TIMES: Omit<PacingTimes, 'sendGap'> = {
  pauseMs: 15 * MINUTE_MS,
  /**
   * Two look-ups (20 s each), `LONGEST_COMPOSING_MS`, an attachment (90 s), devices and sealing (60 s each). The rest
   * is for the waits for slots. Each order waits for a slot of its worker. If it has an attachment, it then waits for
   * one of its tenant's slots for attachments, and for a slot of the worker again. A status with an attachment leaves
   * out the first of these waits. With 5,000 sessions on two overloaded cores, one wait for the worker was about a
   * minute.
   */
  preparingMs: 12 * MINUTE_MS,
  /** Once a message is stored as `sending`: its acknowledgement (60 s), and a margin. */
  outcomeMs: 3 * MINUTE_MS,
};
