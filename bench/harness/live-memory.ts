import type { Figures } from './bench.ts';
import type { LiveNode } from './live-node.ts';
import type { LiveSide } from './live-side.ts';
import { loadAverage, residentMiB } from './process-usage.ts';

/** Resident memory of the processes of a side, with the heaps of the service and how busy the machine is. */
export async function liveMemory(side: LiveSide): Promise<Figures> {
  const { server, simulator, redis } = side.watch;
  return {
    serverMiB: residentMiB(server),
    ...(await heaps(side)),
    simulatorMiB: residentMiB(simulator),
    redisMiB: residentMiB(redis),
    loadAverage: loadAverage(),
  };
}

/** Heap of the main thread and of all workers of a node. */
export async function heaps(
  node: Pick<LiveNode, 'metrics'>,
): Promise<{ readonly mainHeapMiB: number; readonly workerHeapMiB: number }> {
  const metrics = await node.metrics();
  const workers = [...metrics].filter(([name]) => name.startsWith('msgapi_session_worker_heap_bytes'));
  const bytes = workers.reduce((sum, [, value]) => sum + value, 0);
  return {
    mainHeapMiB: (metrics.get('nodejs_heap_size_used_bytes') ?? 0) / 2 ** 20,
    workerHeapMiB: bytes / 2 ** 20,
  };
}
