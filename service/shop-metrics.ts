import type { ShopCounting } from '../actors/shops/effects/shop-counting.ts';
import { TROUBLE_WORDS } from '../actors/shops/views/shop-summary.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import { batchCounters } from './batch-metrics.ts';
import type { RunningActors } from './compose-actors.ts';

/** The states of a channel in the contract's words. */
const CHANNEL_STATUSES = ['starting', 'qr_waiting', 'connected', 'disconnected'];

/** Registers the metrics of a node's shops: their states, queues and mailboxes. */
export function exportShops(
  metrics: Metrics,
  { fleet, counts, eventWaiters }: Pick<RunningActors, 'fleet' | 'counts' | 'eventWaiters'>,
  clock: Pick<Clock, 'wallMs'>,
): void {
  metrics.source({
    name: 'msgapi_ledgers_replaced_total',
    help: 'Shops whose ledger could not be read and counts as full for a day',
    kind: 'counter',
    read: () => counts.ledgersReplaced,
  });
  metrics.source({
    name: 'msgapi_numbers_shared_total',
    help: 'Connections of a number that another tenant had within 30 days',
    kind: 'counter',
    read: () => counts.numbersShared,
  });
  const gauge = (name: string, help: string, read: Parameters<Metrics['source']>[0]['read']): void =>
    metrics.source({ name, help, kind: 'gauge', read });
  gauge(
    'msgapi_event_waits',
    "Calls and streams that wait for their tenant's events on this node",
    () => eventWaiters.count,
  );
  gauge('msgapi_runtime_mailbox_depth', 'Commands that wait in all mailboxes of this node', async () => {
    const { mailboxDepth } = await fleet.census();
    return mailboxDepth;
  });
  gauge(
    'msgapi_messages_queued',
    'Messages that wait for their turn in active shops of this node',
    async () => {
      const { queued } = await fleet.census();
      return queued;
    },
  );
  gauge(
    'msgapi_scheduled_waiting',
    'Sends that wait for their time in active shops of this node',
    async () => {
      const { scheduled } = await fleet.census();
      return scheduled;
    },
  );
  gauge(
    'msgapi_oldest_queued_message_seconds',
    'Age of the message that has waited longest in an active shop of this node; 0 without any',
    async () => {
      const { oldestMessageMs } = await fleet.census();
      return oldestMessageMs === null ? 0 : Math.max(0, clock.wallMs() - oldestMessageMs) / 1_000;
    },
  );
  gauge('msgapi_sessions', 'Shops that are active on this node, by the state of their channel', async () => {
    const { states } = await fleet.census();
    return CHANNEL_STATUSES.map((state) => ({ labels: { state }, value: states[state] ?? 0 }));
  });
  gauge('msgapi_shops_in_trouble', 'Shops on this node that need an operator, by trouble', async () => {
    const { states } = await fleet.census();
    return TROUBLE_WORDS.map((trouble) => ({ labels: { trouble }, value: states[trouble] ?? 0 }));
  });
  gauge('msgapi_tenants_suspended', 'Suspended tenants on this node, at most twenty', async () => {
    const { suspendedTenants } = await fleet.census();
    return suspendedTenants.length;
  });
}

/** Bounds of the time from the network's acknowledgement until a recipient has a message, in seconds; up to two days. */
const RECEIPT_BUCKETS_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600, 86_400, 172_800];

/** Counts the results of a node's messages. */
export function shopCounting(metrics: Metrics): ShopCounting {
  return {
    receipt: receiptCounter(metrics),
    scheduled: scheduledCounter(metrics),
    ...batchCounters(metrics),
  };
}

function receiptCounter(metrics: Metrics): ShopCounting['receipt'] {
  const counts = { delivered: 0, read: 0 };
  metrics.source({
    name: 'msgapi_message_receipts_total',
    help: 'Messages that a first recipient has, and messages that a first one read',
    kind: 'counter',
    read: () => [
      { labels: { kind: 'delivered' }, value: counts.delivered },
      { labels: { kind: 'read' }, value: counts.read },
    ],
  });
  const delay = metrics.histogram({
    name: 'msgapi_message_delivery_seconds',
    help: 'From the acknowledgement of the chat network until a first recipient has the message',
    buckets: RECEIPT_BUCKETS_SECONDS,
  });
  return (kind, afterMs) => {
    counts[kind] += 1;
    if (kind === 'delivered') delay(afterMs / 1_000);
  };
}

function scheduledCounter(metrics: Metrics): ShopCounting['scheduled'] {
  // Prometheus sees no increase of a series that is new.
  const counts = new Map<string, number>([['', 0]]);
  metrics.source({
    name: 'msgapi_scheduled_ends_total',
    help: 'Scheduled sends that became messages, and those that were refused, with the code',
    kind: 'counter',
    read: () =>
      [...counts].map(([code, value]) => ({
        labels: { outcome: code === '' ? 'accepted' : 'refused', code },
        value,
      })),
  });
  return (code) => counts.set(code ?? '', (counts.get(code ?? '') ?? 0) + 1);
}
