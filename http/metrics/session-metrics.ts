import type { SessionEnd } from '../../actors/sessions/session-events.ts';
import type { SessionHost } from '../../actors/sessions/session-host.ts';
import type { Metrics } from './metrics.ts';

/**
 * The ends that alerts are about (deploy/monitoring/alert-rules.yaml). Their series start at 0, because Prometheus sees
 * no increase of a series that is new.
 */
const ALERTED_ENDS: readonly SessionEnd[] = [
  'credentials_unreadable',
  'temporarily_banned',
  'forbidden',
  'login_refused',
  'outdated',
  'egress_unreachable',
];

/** Registers the metrics of the sending component: its workers, ends of sessions, outcomes of orders. */
export function exportSessions(metrics: Metrics, host: Pick<SessionHost, 'isAvailable' | 'figures'>): void {
  metrics.counter(
    'msgapi_session_workers_lost_total',
    'Session workers that died or hung and were replaced',
    () => host.figures().workersLost,
  );
  metrics.gauge(
    'msgapi_session_workers_available',
    'One while a session worker accepts orders, or the first one is starting',
    () => Number(host.isAvailable()),
  );
  metrics.gauge(
    'msgapi_session_worker_heap_bytes',
    'JavaScript heap a session worker uses, as of its last heartbeat',
    () => series('worker', host.figures().workerHeapBytes),
  );
  metrics.counter('msgapi_session_ends_total', 'Sessions that ended by themselves, by cause', () =>
    series(
      'end',
      new Map<string, number>([...ALERTED_ENDS.map((end) => [end, 0] as const), ...host.figures().ends]),
    ),
  );
  metrics.counter(
    'msgapi_session_outcomes_total',
    "Outcomes of orders to send; a refusal with the network's code, or `other` if there are too many",
    () =>
      host
        .figures()
        .outcomes.map(({ outcome, code, count }) => ({ labels: { outcome, code }, value: count })),
  );
  metrics.counter(
    'msgapi_session_received_total',
    'Messages that people wrote to shops, repeated deliveries included',
    () => host.figures().received,
  );
  metrics.counter(
    'msgapi_inbound_told_total',
    'Inbound messages that tenants got as events, by kind, repeated deliveries included',
    () => series('kind', host.figures().published),
  );
  metrics.counter(
    'msgapi_session_unanswered_total',
    'Sessions that the network ended because it missed an acknowledgement, by the class of the stanza',
    () => series('class', host.figures().unanswered),
  );
  metrics.counter(
    'msgapi_session_offline_announced_total',
    'Stanzas that waited while sessions were away, as the network announced them',
    () => host.figures().offline.announced,
  );
  metrics.counter(
    'msgapi_session_offline_drained_total',
    'Waiting stanzas that the network delivered, counted when it announced their end',
    () => host.figures().offline.drained,
  );
}

/** Returns a series for each value of one label. */
function series(
  label: string,
  counts: Iterable<readonly [value: string | number, count: number]>,
): { labels: Record<string, string>; value: number }[] {
  return [...counts].map(([of, value]) => ({ labels: { [label]: String(of) }, value }));
}
