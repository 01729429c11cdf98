import { BATCH_STATUSES, BATCH_STOP_REASONS } from '../../actors/batch-status.ts';
import { CHANNEL_STATUSES } from '../../actors/channel-status.ts';
import type { ShopCensus } from '../../actors/shops/inspection/shop-census.ts';
import { TROUBLE_WORDS } from '../../actors/shops/inspection/shop-summary.ts';
import type { CountEffect } from '../../actors/shops/protocol/shop-effect.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from './metrics.ts';

const OPEN_BATCHES = BATCH_STATUSES.filter((status) => status !== 'finished');

/** The figures that the shops of a node and the waits for events keep. */
interface ShopFigures {
  readonly ownNode: { census(): Promise<ShopCensus> };
  readonly counts: { readonly ledgersReplaced: number; readonly numbersShared: number };
  readonly eventWaiters: { readonly count: number };
}

/**
 * Registers the metrics of a node's shops: their states, queues, batches and mailboxes. The waits for events and the
 * suspended actors of tenants are among them.
 */
export function exportShops(
  metrics: Metrics,
  { ownNode, counts, eventWaiters }: ShopFigures,
  clock: Pick<Clock, 'wallMs'>,
): void {
  metrics.counter(
    'msgapi_ledgers_replaced_total',
    'Shops whose ledger could not be read and counts as full for a day',
    () => counts.ledgersReplaced,
  );
  metrics.counter(
    'msgapi_numbers_shared_total',
    'Connections of a number that another tenant had within 30 days',
    () => counts.numbersShared,
  );
  metrics.gauge(
    'msgapi_event_waits',
    "Calls and streams that wait for their tenant's events on this node",
    () => eventWaiters.count,
  );
  for (const [name, help, read] of CENSUS_GAUGES)
    metrics.gauge(name, help, async () => read(await ownNode.census(), clock.wallMs()));
}

type CensusGauge = readonly [
  name: string,
  help: string,
  read: (census: ShopCensus, nowMs: number) => ReturnType<Parameters<Metrics['gauge']>[2]>,
];

const CENSUS_GAUGES: readonly CensusGauge[] = [
  [
    'msgapi_runtime_mailbox_depth',
    'Commands that wait in all mailboxes of this node',
    ({ mailboxDepth }) => mailboxDepth,
  ],
  [
    'msgapi_messages_queued',
    'Messages that wait for their turn in active shops of this node',
    ({ queued }) => queued,
  ],
  [
    'msgapi_scheduled_waiting',
    'Sends that wait for their time in active shops of this node',
    ({ scheduled }) => scheduled,
  ],
  [
    'msgapi_oldest_queued_message_seconds',
    'Age of the message that has waited longest in an active shop of this node; 0 without any',
    ({ oldestMessageMs }, nowMs) => secondsSince(oldestMessageMs, nowMs),
  ],
  [
    'msgapi_sessions',
    'Shops that are active on this node, by the state of their channel',
    ({ states }) => CHANNEL_STATUSES.map((state) => ({ labels: { state }, value: states[state] ?? 0 })),
  ],
  [
    'msgapi_shops_in_trouble',
    'Shops on this node that need an operator, by trouble',
    ({ states }) => TROUBLE_WORDS.map((trouble) => ({ labels: { trouble }, value: states[trouble] ?? 0 })),
  ],
  [
    'msgapi_tenants_suspended',
    'Suspended tenants on this node, at most twenty',
    ({ suspendedTenants }) => suspendedTenants.length,
  ],
  [
    'msgapi_batches',
    'Batches that have not ended in active shops of this node, by state',
    ({ batches }) => OPEN_BATCHES.map((status) => ({ labels: { status }, value: batches[status] ?? 0 })),
  ],
  [
    'msgapi_batch_standing_seconds',
    'Longest time since a batch that may send processed a recipient; 0 without any',
    ({ batchStandsSinceMs }, nowMs) => secondsSince(batchStandsSinceMs, nowMs),
  ],
];

function secondsSince(sinceMs: number | null, nowMs: number): number {
  return sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1_000;
}

/**
 * Bounds of the time from the network's acknowledgement until a recipient has a message, in seconds; up to two days.
 */
const RECEIPT_BUCKETS_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600, 86_400, 172_800];

/** Registers the counters of what a node's shops did. Returns a function that counts each effect. */
export function shopCounter({ counted, histogram }: Metrics): (effect: CountEffect) => void {
  const receipts = counted(
    'msgapi_message_receipts_total',
    'Messages that a first recipient got, and messages that a first recipient read',
    [{ kind: 'delivered' }, { kind: 'read' }],
  );
  const delay = histogram({
    name: 'msgapi_message_delivery_seconds',
    help: 'From the acknowledgement of the chat network until a first recipient has the message',
    bounds: RECEIPT_BUCKETS_SECONDS,
  });
  const countScheduled = counted(
    'msgapi_scheduled_ends_total',
    'Scheduled sends that became messages, and those that were refused, with the code',
    [{ outcome: 'accepted', code: '' }],
  );
  const batches = counted(
    'msgapi_batch_changes_total',
    'Batches that started, ended or stopped by themselves, with the reason of a stop',
    [
      ...['started', 'finished', 'cancelled', 'expired'].map((change) => ({ change, reason: '' })),
      ...BATCH_STOP_REASONS.map((reason) => ({ change: 'stopped', reason })),
    ],
  );
  const recipients = counted(
    'msgapi_batch_recipients_total',
    'Recipients of batches by result, with the code or reason if no message was sent',
    ['sent', 'repeated'].map((outcome) => ({ outcome, code: '' })),
  );
  return (effect) => {
    switch (effect.type) {
      case 'count_receipt':
        receipts({ kind: effect.kind });
        if (effect.kind === 'delivered') delay(effect.afterMs / 1_000);
        break;
      case 'count_scheduled':
        countScheduled({ outcome: effect.code === null ? 'accepted' : 'refused', code: effect.code ?? '' });
        break;
      case 'count_batch':
        batches({ change: effect.change, reason: effect.reason ?? '' });
        break;
      case 'count_recipients':
        recipients({ outcome: effect.outcome, code: effect.code ?? '' }, effect.count);
        break;
    }
  };
}
