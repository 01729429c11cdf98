import { violationsOf } from './checker.ts';
import type { Entry, History } from './history.ts';
import type { Violation } from './violation.ts';

/**
 * The place where a history broke a promise. It is the last entry of its shortest known prefix that does so, with the
 * number of entries.
 */
export interface Breach {
  readonly entry: Entry;
  readonly place: number;
  readonly of: number;
}

/**
 * Finds the shortest prefix of a history that breaks a promise as the whole does, by halves: what was broken once stays
 * so. `undefined` where no prefix does.
 */
export function firstBreach(history: History, { promise, names }: Violation): Breach | undefined {
  const entries = history.inOrder();
  const breaks = (place: number): boolean =>
    violationsOf(history.upTo(place)).some(
      (otherViolation) => otherViolation.promise === promise && otherViolation.names[0] === names[0],
    );
  let [least, most] = [0, entries.length - 1];
  if (most < 0 || !breaks(most)) return undefined;
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (breaks(middle)) most = middle;
    else least = middle + 1;
  }
  const entry = entries[most];
  return entry && { entry, place: most + 1, of: entries.length };
}
