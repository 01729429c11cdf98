/** The states of a batch (docs/contract.md, Batches). */
export const BATCH_STATUSES = [
  'waiting',
  'running',
  'paused',
  'stopped',
  'finished',
  'cancelled',
  'expired',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** The reasons for which a batch stops by itself. */
export const BATCH_STOP_REASONS = [
  'RECIPIENTS_OPTED_OUT',
  'NUMBER_WARNED',
  'NUMBER_RESTRICTED',
  'RATE_SIGNALS',
  'SESSION_LOST',
] as const;
export type BatchStopReason = (typeof BATCH_STOP_REASONS)[number];
