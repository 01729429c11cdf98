import type { Metrics } from '../http/metrics/metrics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import { assumptionNames, isHeld } from '../runtime/redis/store-assumptions.ts';

/** Registers the metrics of Redis, as of the node's last look at it. */
export function exportStore(metrics: Metrics, node: Pick<RuntimeNode, 'storeServers'>): void {
  const gauge = (name: string, help: string, read: Parameters<Metrics['source']>[0]['read']): void =>
    metrics.source({ name, help, kind: 'gauge', read });
  gauge('redis_assumption_held', 'One when what is assumed of Redis holds of every server', () => {
    const servers = node.storeServers();
    return assumptionNames.map((assumption) => ({
      labels: { assumption },
      value: Number(isHeld(assumption, servers)),
    }));
  });
  gauge('redis_memory_use_ratio', 'Share of maxmemory in use, of the fullest server', () =>
    Math.max(0, ...node.storeServers().map(({ memoryUse }) => memoryUse)),
  );
  gauge('redis_connected_replicas', 'Replicas that follow a server', () =>
    node.storeServers().map(({ name, replicas }) => ({ labels: { server: name }, value: replicas })),
  );
  gauge('redis_server_info', 'Always one; the labels say what a server is', () =>
    node.storeServers().map(({ name, version, isMaster }) => ({
      labels: { server: name, version, role: isMaster ? 'master' : 'replica' },
      value: 1,
    })),
  );
}
