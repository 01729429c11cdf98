import { EventEmitter, once } from 'node:events';
import { pathToFileURL } from 'node:url';
import {
  DEFAULT_WORKER_SUPERVISION,
  WorkerPool,
  type WorkerSupervision,
} from '../../../../actors/sessions/main-thread/worker-pool.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { type Clock, systemClock } from '../../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { moduleFile } from '../../../testbed/root.ts';

/** A pool under test, and what it reported. */
export interface ObservedPool {
  readonly pool: WorkerPool;
  readonly story: string[];
  /** Resolves when the condition is true. It is checked after each event of the pool. */
  until(condition: () => boolean): Promise<void>;
}

const TIMEOUT_MS = MINUTE_MS;

/** The settings of a pool that differ from the defaults of these tests. */
interface Pool {
  readonly supervision?: Partial<WorkerSupervision>;
  readonly clock?: Clock;
  /** Returns the address of the thread's code, at each start. */
  readonly entry?: () => URL;
  /** Called at each loss, before the pool goes on. */
  readonly onLost?: () => void;
}

/** The code of a worker that follows the orders of a test. */
export const SCRIPTED = pathToFileURL(moduleFile('tests/actors/sessions/main-thread/scripted-worker.ts'));

/** Starts a pool that reports to the test. */
export function startPool(
  count: number,
  { supervision = {}, clock = systemClock, entry = () => SCRIPTED, onLost = () => undefined }: Pool = {},
): ObservedPool {
  const story: string[] = [];
  const events = new EventEmitter();
  const note = (line: string): void => {
    story.push(line);
    events.emit('told');
  };
  const quiet = (): void => undefined;
  const pool = new WorkerPool({
    get entry() {
      return entry();
    },
    count,
    setup: {
      socketUrl: 'ws://127.0.0.1:9',
      deviceName: 'Test',
      credentialsKeys: [],
      noiseRootKey: undefined,
      mediaCa: undefined,
      media: { allowLoopback: false, deniedRanges: [], nameServers: [] },
      timing: DEFAULT_SESSION_TIMING,
    },
    supervision: { ...DEFAULT_WORKER_SUPERVISION, restartDelayMs: 10, ...supervision },
    clock,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    events: {
      onReport: (report, { worker }) =>
        note(`${worker}: ${report.kind === 'closed' ? report.shopId : report.kind}`),
      onLost: (worker, detail) => {
        onLost();
        note(`${worker} lost: ${detail}`);
      },
      onReady: () => void events.emit('told'),
      onUnreachable: () => note('unreachable'),
    },
  });
  const until = async (condition: () => boolean): Promise<void> => {
    const timeout = new AbortController();
    // Not AbortSignal.timeout: its timer, like the pool's, does not keep the process, so that the test would end first.
    const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS);
    try {
      while (!condition()) await once(events, 'told', { signal: timeout.signal });
    } finally {
      clearTimeout(timer);
    }
  };
  return { pool, story, until };
}

/** Waits until this number of workers is ready. */
export const allReady = ({ pool, until }: ObservedPool, count: number): Promise<void> =>
  until(() => pool.readyWorkers().length === count);
