import type { Fleet } from '../e2e/stack/fleet.ts';
import type { History } from './history.ts';

/** Faults that began this long before a violation may still have effects. */
const BEFORE_MS = 30_000;
/** Lines of each node's log that are repeated. */
const LOG_LINES = 20;

/** Returns the faults since shortly before a moment, and the last log lines of each node, or those about a name. */
export function circumstances(
  fleet: Fleet,
  history: History,
  { sinceMs, about = '' }: { readonly sinceMs: number; readonly about?: string },
): string {
  const faults = history
    .of('fault')
    .filter(({ atMs }) => atMs > sinceMs - BEFORE_MS)
    .map(({ atMs, name, on }) => `${new Date(atMs).toISOString()} ${name} ${on ? 'begins' : 'ends'}`);
  const logs = fleet.nodes.flatMap(({ nodeId, log }) =>
    log()
      .split('\n')
      .filter((line) => line !== '' && line.includes(about))
      .slice(-LOG_LINES)
      .map((line) => `${nodeId} ${line}`),
  );
  return ['faults:', ...faults, 'log:', ...logs].join('\n');
}
