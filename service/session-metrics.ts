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
  metrics.counter(
    'msgapi_session_workers_lost_total',
    'Session workers that died or hung and were replaced',
    () => host.figures().workersLost,
  );
  metrics.gauge('msgapi_session_workers_available', 'One when a session worker takes orders', () =>
    Number(host.available()),
  );
  metrics.gauge(
    'msgapi_session_worker_heap_bytes',
    'JavaScript heap a session worker uses, as of its last heartbeat',
    () =>
      [...host.figures().workerHeapBytes].map(([worker, value]) => ({
        labels: { worker: String(worker) },
        value,
      })),
  );
  // Each series starts at 0 with the first scrape, since Prometheus sees no increase of a series that is new.
  metrics.counter('msgapi_session_ends_total', 'Sessions that ended by themselves, by cause', () =>
    [...new Map<string, number>([...ALERTED_ENDS, ...host.figures().ends])].map(([end, value]) => ({
      labels: { end },
      value,
    })),
  );
  metrics.counter(
    'msgapi_session_outcomes_total',
    "Outcomes of orders to send; a refusal with the network's code",
    () =>
      [...host.figures().outcomes].map(([name, value]) => {
        const [outcome = '', code = ''] = name.split(' ');
        return { labels: { outcome, code }, value };
      }),
  );
  metrics.counter(
    'msgapi_session_received_total',
    'Messages that people wrote to shops, repeated deliveries included',
    () => host.figures().received,
  );
  // All kinds from the start: the first one is to be seen as an increase.
  metrics.counter(
    'msgapi_inbound_told_total',
    'Inbound messages of accounts that get events of them, by kind, repeated deliveries included',
    () => {
      const { announced } = host.figures();
      return INBOUND_KINDS.map((kind) => ({ labels: { kind }, value: announced.get(kind) ?? 0 }));
    },
  );
  // All classes from the start: the first one is to be seen as an increase.
  metrics.counter(
    'msgapi_session_unanswered_total',
    'Sessions that the network ended because it missed an acknowledgement, by the class of the stanza',
    () =>
      [...new Map([['message', 0], ['status', 0], ['other', 0], ...host.figures().unanswered])].map(
        ([stanzaClass, value]) => ({ labels: { class: stanzaClass }, value }),
      ),
  );
  metrics.counter(
    'msgapi_session_offline_announced_total',
    'Stanzas that had waited while sessions were away, as the network announced',
    () => host.figures().offline.announced,
  );
  metrics.counter(
    'msgapi_session_offline_drained_total',
    'Stanzas that had waited and came, counted when the network announced the end of them',
    () => host.figures().offline.drained,
  );
}
