import type { SessionHost } from '../actors/session/session-host.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import type { RuntimeCounters, RuntimeObserver } from '../runtime/observer.ts';
import { exportSessions } from './session-metrics.ts';

/** Buckets of commit times, in seconds; a commit may wait for a Redis that is away. */
const BUCKETS_SECONDS = [0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The name and the help text of each of the runtime's counters in Prometheus. */
const counterNames: { readonly [Name in keyof RuntimeCounters]: readonly [name: string, help: string] } = {
  turns: ['runtime_turns_total', 'Turns whose outcome took effect'],
  commits: ['runtime_commits_total', 'Batches that Redis answered'],
  committedTurns: ['runtime_committed_turns_total', 'Turns that those batches carried'],
  fenceRefusals: ['runtime_fence_refusals_total', 'Shard sections of batches that the fence refused'],
  unknownOutcomes: ['runtime_unknown_outcomes_total', 'Batches whose outcome was found out by revision'],
  crashes: ['runtime_crashes_total', 'Turns that threw'],
  restarts: ['runtime_restarts_total', 'Actors started again after a crash'],
  suspensions: ['runtime_suspensions_total', 'Actors that crashed too often and wait for an operator'],
  deadLetters: ['runtime_dead_letters_total', 'Commands set aside because their turn threw'],
  mailboxRefusals: ['runtime_mailbox_refusals_total', 'Client commands refused by a full mailbox'],
  busyRefusals: ['runtime_busy_refusals_total', 'Client commands refused by a node with its hands full'],
  activations: ['runtime_activations_total', 'Actors loaded from the store'],
  passivations: ['runtime_passivations_total', 'Idle actors stopped'],
  effectFailures: ['runtime_effect_failures_total', 'Effects that threw although they must not'],
  linkCalls: ['runtime_link_calls_total', 'Requests handed to another node'],
  linkServed: ['runtime_link_served_total', 'Requests served for another node'],
  leaseLosses: ['runtime_lease_losses_total', 'Times this node lost its lease'],
  clockDisputes: [
    'runtime_clock_disputes_total',
    'Times this node gave up its shards because its clock and that of Redis disagreed',
  ],
  shardsAhead: ['runtime_shards_ahead_total', 'Shards found with a stored time that lay far ahead'],
  revertedShards: ['runtime_reverted_shards_total', 'Shards of which Redis lost acknowledged writes'],
};

/** Puts what the runtime observes into histograms. */
export function runtimeObserver(metrics: Metrics): RuntimeObserver {
  const latency = metrics.histogram({
    name: 'runtime_commit_latency_seconds',
    help: 'From handing a batch to the client library until Redis answered',
    buckets: BUCKETS_SECONDS,
  });
  const size = metrics.histogram({
    name: 'runtime_commit_turns',
    help: 'Turns of one batch',
    buckets: BATCH_BUCKETS,
  });
  const turn = metrics.histogram({
    name: 'runtime_turn_seconds',
    help: 'From taking a command out of the mailbox until its reply',
    buckets: BUCKETS_SECONDS,
    labels: ['kind'],
  });
  return {
    committed({ turns, latencyMs }) {
      latency(latencyMs / 1_000);
      size(turns);
    },
    turned: (kind, durationMs) => turn(durationMs / 1_000, { kind }),
  };
}

/** Registers a node's counters and gauges. */
export function exportNode(
  metrics: Metrics,
  node: RuntimeNode,
  host: Pick<SessionHost, 'available' | 'figures'>,
): void {
  for (const [counter, [name, help]] of Object.entries(counterNames)) {
    metrics.source({
      name,
      help,
      kind: 'counter',
      read: () => node.counters[counter as keyof RuntimeCounters],
    });
  }
  const gauge = (name: string, help: string, read: Parameters<Metrics['source']>[0]['read']): void =>
    metrics.source({ name, help, kind: 'gauge', read });
  gauge(
    'runtime_lease_margin_seconds',
    'How long the lease of this node still holds',
    () => node.leaseMarginMs() / 1_000,
  );
  gauge(
    'runtime_clock_ahead_seconds',
    'By how much the clock of this node is ahead of that of Redis',
    () => node.clockAheadMs() / 1_000,
  );
  gauge(
    'runtime_shards_owned',
    'Shards this node owns',
    () => node.shards().filter(({ mine }) => mine).length,
  );
  exportSessions(metrics, host);
}
