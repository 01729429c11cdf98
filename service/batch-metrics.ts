import { BATCH_STOP_REASONS } from '../actors/batch-status.ts';
import type { ShopCounting } from '../actors/shops/effects/shop-counting.ts';
import type { Metrics } from '../http/metrics/metrics.ts';

/** Counts the results of batches and of their recipients. */
export function batchCounters(metrics: Metrics): Pick<ShopCounting, 'batch' | 'recipients'> {
  const changed = metrics.counted(
    'msgapi_batch_changes_total',
    'Batches that started, ended or stopped by themselves, with the reason of a stop',
    [
      ...['started', 'finished', 'cancelled', 'expired'].map((change) => ({ change, reason: '' })),
      ...BATCH_STOP_REASONS.map((reason) => ({ change: 'stopped', reason })),
    ],
  );
  const ended = metrics.counted(
    'msgapi_batch_recipients_total',
    'Recipients of batches by result, with the code or reason where no message was sent',
    ['sent', 'repeated'].map((outcome) => ({ outcome, code: '' })),
  );
  return {
    batch: (change, reason) => changed({ change, reason: reason ?? '' }),
    recipients: ({ outcome, code, count }) => ended({ outcome, code: code ?? '' }, count),
  };
}
