import { INBOUND_KINDS } from '../actors/inbound-content.ts';
import type { SessionHost } from '../actors/sessions/session-host.ts';
import type { Metrics } from '../http/metrics/metrics.ts';

/** The ends that alerts are about (image/monitoring/alert-rules.yaml). */
const ALERTED_ENDS = (
  [
    ...(['credentials_unreadable', 'temporarily_banned', 'forbidden', 'login_refused'] as const),
    ...(['outdated', 'egress_unreachable'] as const),
  ] as const
).map((end) => [end, 0] as const);

/** Registers the metrics of the sending component: its workers, ends of sessions, outcomes of orders. */
export function exportSessions(metrics: Metrics, host: Pick<SessionHost, 'available' | 'figures'>): void {
  const source = metrics.source.bind(metrics);
  source({
    name: 'msgapi_session_workers_lost_total',
    help: 'Session workers that died or hung and were replaced',
    kind: 'counter',
    read: () => host.figures().workersLost,
  });
  source({
    name: 'msgapi_session_workers_available',
    help: 'One when a session worker takes orders',
    kind: 'gauge',
    read: () => Number(host.available()),
  });
  source({
    name: 'msgapi_session_worker_heap_bytes',
    help: 'JavaScript heap a session worker uses, as of its last heartbeat',
    kind: 'gauge',
    read: () =>
      [...host.figures().workerHeapBytes].map(([worker, value]) => ({
        labels: { worker: String(worker) },
        value,
      })),
  });
  source({
    name: 'msgapi_session_ends_total',
    help: 'Sessions that ended by themselves, by cause',
    kind: 'counter',
    // Each series starts at 0 with the first scrape, since Prometheus sees no increase of a series that is new.
    read: () =>
      [...new Map<string, number>([...ALERTED_ENDS, ...host.figures().ends])].map(([end, value]) => ({
        labels: { end },
        value,
      })),
  });
  source({
    name: 'msgapi_session_outcomes_total',
    help: "Outcomes of orders to send; a refusal with the network's code",
    kind: 'counter',
    read: () =>
      [...host.figures().outcomes].map(([name, value]) => {
        const [outcome = '', code = ''] = name.split(' ');
        return { labels: { outcome, code }, value };
      }),
  });
  source({
    name: 'msgapi_session_received_total',
    help: 'Messages that people wrote to shops, repeated deliveries included',
    kind: 'counter',
    read: () => host.figures().received,
  });
  source({
    name: 'msgapi_inbound_told_total',
    help: 'Inbound messages of accounts that get events of them, by kind, repeated deliveries included',
    kind: 'counter',
    // All kinds from the start: the first one is to be seen as an increase.
    read: () => {
      const { announced } = host.figures();
      return INBOUND_KINDS.map((kind) => ({ labels: { kind }, value: announced.get(kind) ?? 0 }));
    },
  });
  source({
    name: 'msgapi_session_unanswered_total',
    help: 'Sessions that the network ended because it missed an acknowledgement, by the class of the stanza',
    kind: 'counter',
    // All classes from the start: the first one is to be seen as an increase.
    read: () =>
      [...new Map([['message', 0], ['status', 0], ['other', 0], ...host.figures().unanswered])].map(
        ([stanzaClass, value]) => ({ labels: { class: stanzaClass }, value }),
      ),
  });
  source({
    name: 'msgapi_session_offline_announced_total',
    help: 'Stanzas that had waited while sessions were away, as the network announced',
    kind: 'counter',
    read: () => host.figures().offline.announced,
  });
  source({
    name: 'msgapi_session_offline_drained_total',
    help: 'Stanzas that had waited and came, counted when the network announced the end of them',
    kind: 'counter',
    read: () => host.figures().offline.drained,
  });
}
