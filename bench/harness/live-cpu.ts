import type { LiveSide } from './live-side.ts';
import { cpuMs, threadsCpuMs } from './process-usage.ts';

/** CPU time used so far, in milliseconds. `main` and `workers` are threads of `server`; the rest of it is V8's own. */
export interface LiveCpu {
  readonly server: number;
  readonly main: number;
  readonly workers: number;
  readonly simulator: number;
  readonly redis: number;
}

/** Returns the CPU time that a side's processes and the service's threads have used since they started. */
export function liveCpu(side: LiveSide): LiveCpu {
  const { server, simulator, redis } = side.watch;
  const threads = threadsCpuMs(server);
  return {
    server: cpuMs(server),
    main: threads.get(server) ?? 0,
    workers: side.workerThreads().reduce((sum, thread) => sum + (threads.get(thread) ?? 0), 0),
    simulator: cpuMs(simulator),
    redis: cpuMs(redis),
  };
}
