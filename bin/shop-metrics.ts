import { TROUBLE_WORDS } from '../actors/shop/view/shop-summary.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { RunningActors } from './compose-actors.ts';

/** The states of a channel in the contract's words. */
const CHANNEL_STATUSES = ['starting', 'qr_waiting', 'connected', 'disconnected'];

/** Registers the metrics of a node's shops: their states, queues and mailboxes. */
export function exportShops(
  metrics: Metrics,
  { fleet, counts }: Pick<RunningActors, 'fleet' | 'counts'>,
): void {
  metrics.source({
    name: 'msgapp_ledgers_replaced_total',
    help: 'Shops whose count of what they sent could not be read and counts as full for a day',
    kind: 'counter',
    read: () => counts.ledgersReplaced,
  });
  const gauge = (name: string, help: string, read: Parameters<Metrics['source']>[0]['read']): void =>
    metrics.source({ name, help, kind: 'gauge', read });
  gauge('runtime_mailbox_depth', 'Commands that wait in all mailboxes of this node', async () => {
    const { mailboxDepth } = await fleet.census();
    return mailboxDepth;
  });
  gauge('msgapp_sessions', 'Shops that are active on this node, by the state of their channel', async () => {
    const { states } = await fleet.census();
    return CHANNEL_STATUSES.map((state) => ({ labels: { state }, value: states[state] ?? 0 }));
  });
  gauge('msgapp_shops_in_trouble', 'Shops on this node that ask for an eye, by what is wrong', async () => {
    const { states } = await fleet.census();
    return TROUBLE_WORDS.map((trouble) => ({ labels: { trouble }, value: states[trouble] ?? 0 }));
  });
  gauge(
    'msgapp_tenants_suspended',
    'Tenants on this node that wait for an operator, twenty for more',
    async () => {
      const { suspendedTenants } = await fleet.census();
      return suspendedTenants.length;
    },
  );
}
