import type { Violation } from './checker.ts';
import type { Entry, Fact } from './history.ts';
import type { RunHistory } from './run-history.ts';

const COUNTED: readonly Fact['kind'][] = [
  ...(['accepted', 'refused', 'ended', 'delivered', 'stopped', 'answered_after_stop'] as const),
  ...(['revoked', 'answered_after_revocation', 'erased', 'fed', 'called', 'fault'] as const),
];
/** Entries of a broken promise that are printed at most. */
const MOST_ENTRIES = 40;

/** Returns the counts of a history as a table, and for each broken promise the part of the history that is about it. */
export function report({ history, violations, shops }: RunHistory): string {
  const counts = COUNTED.map((kind) => `| ${kind} | ${history.of(kind).length} |`);
  const table = ['| What | Count |', '| --- | --- |', `| shops | ${shops} |`, ...counts].join('\n');
  const broken = violations.map((violation) => storyOf(violation, history.entries));
  return [table, ...broken, violations.length === 0 ? 'Every promise held.' : 'FAILED.'].join('\n\n');
}

function storyOf({ promise, names }: Violation, entries: readonly Entry[]): string {
  const lines = entries
    .filter((entry) => entry.kind === 'fault' || names.some((name) => Object.values(entry).includes(name)))
    .toSorted((one, other) => one.atMs - other.atMs)
    .map((entry) => `  ${new Date(entry.atMs).toISOString()} ${JSON.stringify(entry)}`);
  const own = lines.filter((line) => !line.includes('"fault"'));
  return [
    `BROKEN: ${promise}: ${names.join(', ')}`,
    ...(own.length > 0 ? own : lines).slice(0, MOST_ENTRIES),
  ].join('\n');
}
