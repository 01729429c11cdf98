import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { RuntimeNode } from '../../runtime/node/node.ts';
import type { RuntimeCounters, RuntimeObserver, TracedTurn } from '../../runtime/observer.ts';
import { ASSUMPTION_NAMES, isHeld } from '../../runtime/store-assumptions.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Metrics } from './metrics.ts';

/** Buckets of commit times, in seconds; a commit may wait for a Redis that is away. */
const BUCKETS_SECONDS = [0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const TURNS_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The name and the help text of each of the runtime's counters in Prometheus. */
const RUNTIME_COUNTERS: { readonly [Name in keyof RuntimeCounters]: readonly [name: string, help: string] } =
  {
    turns: ['msgapi_runtime_turns_total', 'Turns whose outcome took effect'],
    commits: [
      'msgapi_runtime_commits_total',
      'Groups of commits that ended, with or without an answer of Redis',
    ],
    committedTurns: ['msgapi_runtime_committed_turns_total', 'Turns in those groups'],
    fenceRefusals: ['msgapi_runtime_fence_refusals_total', 'Commits of a shard that the fence refused'],
    unknownOutcomes: [
      'msgapi_runtime_unknown_outcomes_total',
      'Commits of a shard without an answer, whose outcome the revision showed',
    ],
    crashes: [
      'msgapi_runtime_crashes_total',
      'Crashes of actors: code that threw, or a write that Redis refused',
    ],
    restarts: ['msgapi_runtime_restarts_total', 'Actors started again after a crash'],
    suspensions: [
      'msgapi_runtime_suspensions_total',
      'Actors that crashed too often and wait for an operator',
    ],
    deadLetters: ['msgapi_runtime_dead_letters_total', 'Commands set aside because they crashed their actor'],
    mailboxRefusals: ['msgapi_runtime_mailbox_refusals_total', 'Client commands refused by a full mailbox'],
    busyRefusals: [
      'msgapi_runtime_busy_refusals_total',
      'Client commands refused by a node that is too busy',
    ],
    activations: ['msgapi_runtime_activations_total', 'Actors loaded from the store'],
    passivations: ['msgapi_runtime_passivations_total', 'Idle actors stopped'],
    effectFailures: ['msgapi_runtime_effect_failures_total', 'Effects that threw; no effect may throw'],
    linkCalls: ['msgapi_runtime_link_calls_total', 'Requests forwarded to another node'],
    linkServed: ['msgapi_runtime_link_served_total', 'Requests served for another node'],
    linkRefused: [
      'msgapi_runtime_link_refused_total',
      'Messages between nodes that were forged, moved or repeated',
    ],
    leaseLosses: ['msgapi_runtime_lease_losses_total', 'Times this node lost its lease'],
    clockDisputes: [
      'msgapi_runtime_clock_disputes_total',
      'Times this node released its shards because its clock and that of Redis disagreed',
    ],
    shardsAhead: ['msgapi_runtime_shards_ahead_total', 'Shards found with a stored time far ahead'],
    revertedShards: ['msgapi_runtime_reverted_shards_total', 'Shards whose acknowledged writes Redis lost'],
  };

/** Puts the runtime's observations into histograms. */
export function runtimeObserver(metrics: Metrics, tracing: Tracing | undefined): RuntimeObserver {
  const latency = metrics.histogram({
    name: 'msgapi_runtime_commit_latency_seconds',
    help: 'From passing a group of commits to the client library until the group ended',
    bounds: BUCKETS_SECONDS,
  });
  const size = metrics.histogram({
    name: 'msgapi_runtime_commit_turns',
    help: 'Turns of one group of commits',
    bounds: TURNS_BUCKETS,
  });
  const turn = metrics.histogram({
    name: 'msgapi_runtime_turn_seconds',
    help: 'From the beginning of a turn until its reply',
    bounds: BUCKETS_SECONDS,
    label: 'kind',
  });
  return {
    committed({ turns, latencyMs }) {
      latency(latencyMs / 1_000);
      size(turns);
    },
    turned: (kind, durationMs) => turn(durationMs / 1_000, kind),
    ...(tracing === undefined ? {} : { traced: turnSpans(tracing) }),
  };
}

/** Returns a function that makes a span of each traced turn, and in it one of its commit. */
function turnSpans(tracing: Tracing): (turn: TracedTurn) => void {
  return ({ kind, traceparent, startMs, commitMs, endMs }) => {
    const attributes = { 'actor.kind': kind };
    const turn = tracing.start('turn', { parent: traceparent, kind: 'internal', startMs, attributes });
    if (commitMs !== undefined) {
      const parent = turn.traceparent;
      tracing.start('commit', { parent, kind: 'client', startMs: commitMs }).end({ endMs });
    }
    turn.end({ endMs });
  };
}

/** Registers which program a node runs: the version of its package and the commit it was built from. */
export function exportBuild(
  metrics: Metrics,
  build: { readonly version: string; readonly revision: string },
): void {
  metrics.gauge('msgapi_build_info', 'Always one; the labels name the program that a node runs', () => [
    { labels: { version: build.version, revision: build.revision }, value: 1 },
  ]);
}

/** Registers a node's counters and gauges. */
export function exportNode(metrics: Metrics, node: RuntimeNode): void {
  for (const [counter, [name, help]] of Object.entries(RUNTIME_COUNTERS))
    metrics.counter(name, help, () => node.counters[counter as keyof RuntimeCounters]);
  metrics.gauge(
    'msgapi_runtime_lease_margin_seconds',
    'Seconds until the lease of this node ends',
    () => node.leaseMarginMs() / 1_000,
  );
  metrics.gauge(
    'msgapi_runtime_clock_ahead_seconds',
    'Seconds by which the clock of this node is ahead of that of Redis',
    () => node.clockAheadMs() / 1_000,
  );
  metrics.gauge(
    'msgapi_runtime_shards_owned',
    'Shards this node owns',
    () => node.shards().filter(({ isMine }) => isMine).length,
  );
  metrics.gauge('msgapi_runtime_shards', 'Shards of the installation', () => node.shards().length);
}

/**
 * Registers the free share of the file system of attachments. It is 0 if the folder cannot be read. Nothing can be
 * written there either, and the other metrics must not fail with it.
 */
export function exportAttachmentRoom(metrics: Metrics, folder: string = tmpdir()): void {
  metrics.gauge('msgapi_attachment_room_ratio', 'Free share of the file system for attachments', async () => {
    const room = await statfs(folder).catch(() => undefined);
    if (room === undefined) return 0;
    return room.blocks === 0 ? 1 : room.bavail / room.blocks;
  });
}

/** The process's limits, as the service reads them. */
interface ProcessFigures {
  /** Resolves with undefined if the descriptors cannot be counted. */
  descriptors(): Promise<{ readonly used: number; readonly most: number } | undefined>;
  memoryLimitBytes(): number;
}

/**
 * Registers the gauges of the process's descriptors and memory. Those of prom-client for descriptors are not used: they
 * read the limit once, and count no descriptors when none is left.
 */
export function exportProcess(metrics: Metrics, { descriptors, memoryLimitBytes }: ProcessFigures): void {
  metrics.gauge(
    'process_open_fds',
    'Number of open file descriptors',
    async () => (await descriptors())?.used ?? [],
  );
  metrics.gauge(
    'process_max_fds',
    'Maximum number of open file descriptors',
    async () => (await descriptors())?.most ?? [],
  );
  metrics.gauge(
    'msgapi_memory_limit_bytes',
    "Memory that the process may use: the limit of its container, or the machine's memory",
    memoryLimitBytes,
  );
}

/** Registers the metrics of Redis, from the node's last check. */
export function exportStore(metrics: Metrics, node: Pick<RuntimeNode, 'storeServers'>): void {
  metrics.gauge('msgapi_redis_assumption_held', 'One if every server of Redis meets the assumption', () => {
    const servers = node.storeServers();
    return ASSUMPTION_NAMES.map((assumption) => ({
      labels: { assumption },
      value: Number(isHeld(assumption, servers)),
    }));
  });
  metrics.gauge('msgapi_redis_memory_use_ratio', 'Share of maxmemory in use, of the fullest server', () =>
    Math.max(0, ...node.storeServers().map(({ memoryUse }) => memoryUse)),
  );
  metrics.gauge('msgapi_redis_connected_replicas', 'Replicas that follow a server', () =>
    node.storeServers().map(({ name, replicas }) => ({ labels: { server: name }, value: replicas })),
  );
  metrics.gauge('msgapi_redis_server_info', 'Always one; the labels describe a server', () =>
    node.storeServers().map(({ name, version, isMaster }) => ({
      labels: { server: name, version, role: isMaster ? 'master' : 'replica' },
      value: 1,
    })),
  );
}
