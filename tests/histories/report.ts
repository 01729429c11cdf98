import { firstBreach } from './first-breach.ts';
import type { Entry, Fact, History } from './history.ts';
import type { RunHistory } from './run-history.ts';
import type { Violation } from './violation.ts';

const COUNTED: readonly Fact['kind'][] = [
  ...(['accepted', 'refused', 'ended', 'cancelled', 'delivered', 'wrote', 'stopped'] as const),
  ...(['answered_after_stop', 'suspended', 'revoked', 'answered_after_revocation'] as const),
  ...(['erased', 'erased_tenant', 'erased_person', 'fed', 'called', 'fault'] as const),
];
/** Entries of a broken promise that are printed at most. */
const MOST_ENTRIES = 40;
/** The most broken promises for which the shortest prefix is searched. */
const MOST_SEARCHED = 20;

/** Returns the counts of a history as a table, and for each broken promise the part of the history that is about it. */
export function report({ history, violations, shops }: RunHistory): string {
  const counts = COUNTED.map((kind) => `| ${kind} | ${history.of(kind).length} |`);
  const table = ['| What | Count |', '| --- | --- |', `| shops | ${shops} |`, ...counts].join('\n');
  const stories = violations.map((violation) => storyOf(violation, history));
  return [table, ...stories, violations.length === 0 ? 'Every promise held.' : 'FAILED.'].join('\n\n');
}

/**
 * Searches for the entry with which the history breaks each promise, and returns what it finds, one promise at a time.
 * A search checks many prefixes. In a long history that takes minutes.
 */
export function* shortestPrefixes({ history, violations }: RunHistory): Generator<string> {
  for (const violation of violations.slice(0, MOST_SEARCHED)) {
    const breach = firstBreach(history, violation);
    if (breach === undefined) continue;
    const { entry, place, of } = breach;
    const { promise, names } = violation;
    yield `${promise}: ${names.join(', ')}
  shortest prefix known: the first ${place} of ${of} entries, up to ${lineOf(entry)}`;
  }
}

function storyOf({ promise, names }: Violation, history: History): string {
  const lines = history
    .inOrder()
    .filter((entry) => entry.kind === 'fault' || names.some((name) => Object.values(entry).includes(name)))
    .map((entry) => `  ${lineOf(entry)}`);
  const ownLines = lines.filter((line) => !line.includes('"fault"'));
  return [
    `BROKEN: ${promise}: ${names.join(', ')}`,
    ...(ownLines.length > 0 ? ownLines : lines).slice(0, MOST_ENTRIES),
  ].join('\n');
}

function lineOf(entry: Entry): string {
  return `${new Date(entry.atMs).toISOString()} ${JSON.stringify(entry)}`;
}
