import { BATCH_STATUSES, BATCH_STOP_REASONS } from '../actors/batch-status.ts';
import type { ShopCounting } from '../actors/shops/effects/shop-counting.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { RunningActors } from './compose-actors.ts';

/** Registers the metrics of the batches in a node's active shops. */
export function exportBatches(
  metrics: Metrics,
  { fleet }: Pick<RunningActors, 'fleet'>,
  clock: Pick<Clock, 'wallMs'>,
): void {
  metrics.source({
    name: 'msgapi_batches',
    help: 'Batches that have not ended in active shops of this node, by state',
    kind: 'gauge',
    read: async () => {
      const { batches } = await fleet.census();
      return OPEN_STATUSES.map((status) => ({ labels: { status }, value: batches[status] ?? 0 }));
    },
  });
  metrics.source({
    name: 'msgapi_batch_standing_seconds',
    help: 'Longest time since a batch that may send processed a recipient; 0 without any',
    kind: 'gauge',
    read: async () => {
      const { batchStandsSinceMs } = await fleet.census();
      return batchStandsSinceMs === null ? 0 : Math.max(0, clock.wallMs() - batchStandsSinceMs) / 1_000;
    },
  });
}

const OPEN_STATUSES = BATCH_STATUSES.filter((status) => status !== 'finished');

/** Counts the results of batches and of their recipients. */
export function batchCounters(metrics: Metrics): Pick<ShopCounting, 'batch' | 'recipients'> {
  const ends = ['started', 'finished', 'cancelled', 'expired'].map((change): Pair => [change, '']);
  const changes = new LabelledCounts([
    ...ends,
    ...BATCH_STOP_REASONS.map((reason): Pair => ['stopped', reason]),
  ]);
  const outcomes = new LabelledCounts([
    ['sent', ''],
    ['repeated', ''],
  ]);
  metrics.source({
    name: 'msgapi_batch_changes_total',
    help: 'Batches that started, ended or stopped by themselves, with the reason of a stop',
    kind: 'counter',
    read: () => changes.read(([change, reason]) => ({ change, reason })),
  });
  metrics.source({
    name: 'msgapi_batch_recipients_total',
    help: 'Recipients of batches by result, with the code or reason where no message was sent',
    kind: 'counter',
    read: () => outcomes.read(([outcome, code]) => ({ outcome, code })),
  });
  return {
    batch: (change, reason) => changes.add([change, reason ?? ''], 1),
    recipients: ({ outcome, code, count }) => outcomes.add([outcome, code ?? ''], count),
  };
}

type Pair = readonly [string, string];

/** Counts by two labels. Those that are given begin at 0, since Prometheus sees no increase of a series that is new. */
class LabelledCounts {
  readonly #counts = new Map<string, { readonly pair: Pair; value: number }>();

  constructor(known: readonly Pair[]) {
    for (const pair of known) this.add(pair, 0);
  }

  add(pair: Pair, count: number): void {
    const key = pair.join();
    const entry = this.#counts.get(key) ?? { pair, value: 0 };
    entry.value += count;
    this.#counts.set(key, entry);
  }

  read<T>(labelsOf: (pair: Pair) => T): { readonly labels: T; readonly value: number }[] {
    return [...this.#counts.values()].map(({ pair, value }) => ({ labels: labelsOf(pair), value }));
  }
}
