/** The last state of an accepted message. */
export interface MessageOutcome {
  readonly status: string;
  readonly reason: string | null;
  /** How often its text is on handsets. */
  readonly shown: number;
  /** The number of different events about its end that the webhook got. */
  readonly events: number;
}

/** Reasons of messages that a process was sending when it died. They may have been sent, so no one sends them again. */
const UNCERTAIN = new Set(['BOT_RESTARTED', 'DELIVERY_UNKNOWN']);

/** Counts outcomes. All but `accepted`, `sent` and `uncertain` must be 0. */
export function countOutcomes(outcomes: readonly MessageOutcome[]) {
  const count = (isCounted: (outcome: MessageOutcome) => boolean): number =>
    outcomes.filter(isCounted).length;
  const isSent = ({ status }: MessageOutcome): boolean => status === 'sent';
  const isUncertain = ({ status, reason }: MessageOutcome): boolean =>
    status === 'failed' && UNCERTAIN.has(reason ?? '');
  return {
    accepted: outcomes.length,
    sent: count(isSent),
    uncertain: count(isUncertain),
    endedOtherwise: count((outcome) => !isSent(outcome) && !isUncertain(outcome)),
    lost: count((outcome) => isSent(outcome) && outcome.shown === 0),
    doubled: count(({ shown }) => shown > 1),
    endsUntold: count(({ events }) => events === 0),
    endsToldTwice: count(({ events }) => events > 1),
  };
}

/** A process's memory in a minute; undefined: it did not run. `life` is the number of its start. */
export interface MinuteMemory {
  readonly mib: number | undefined;
  readonly life: number;
}

/**
 * Returns the least memory in the last quarter as a multiple of that in the second. The first quarter is left out,
 * because caches fill and code is compiled then. The least counts, because a collection may be late, and because the
 * sessions of a killed node need memory for some minutes.
 */
export function growthOfLong(mib: readonly (number | undefined)[]): number {
  const quarter = Math.floor(mib.length / 4);
  return least(mib.slice(-quarter)) / least(mib.slice(quarter, 2 * quarter));
}

/**
 * Returns the growth of a process that is killed. It is a ratio: the least memory in the second half of its last life,
 * divided by that of its second life. The first life is left out, because it began with the pairings.
 */
export function growthOfLives(minutes: readonly MinuteMemory[]): number {
  const leastOf = (wanted: number): number => {
    const minutesOfLife = minutes.filter(({ life }) => life === wanted);
    return least(minutesOfLife.slice(Math.floor(minutesOfLife.length / 2)).map(({ mib }) => mib));
  };
  const last = Math.max(...minutes.map(({ life }) => life));
  return last < 2 ? Number.NaN : leastOf(last) / leastOf(1);
}

function least(values: readonly (number | undefined)[]): number {
  return Math.min(...values.filter((value) => value !== undefined));
}
