/** Hours of each day, in one time zone, in which no message of a batch leaves. */
import { MINUTE_MS } from '../runtime/durations.ts';
import { memoize } from '../runtime/memoize.ts';

/** From one time of day until another, which may be on the next day. */
export interface QuietHours {
  /** `HH:MM`, from 00:00 to 23:59. */
  readonly from: string;
  readonly to: string;
  /** A name of the IANA's time zones. */
  readonly timeZone: string;
}

const DAY_MINUTES = 24 * 60;
/** All offsets from UTC in force differ by quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;
/** Each day needs an hour in which something may leave; otherwise the end of a batch is unknown. */
const LEAST_OPEN_MINUTES = 60;
/** Clocks are changed by two hours at most. */
const LARGEST_CHANGE_MINUTES = 120;
/** No change of clocks makes quiet hours last longer than this. */
const LONGEST_QUARTERS = 4 * 50;

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Returns the first mistake in quiet hours, with its field, or undefined if there is none. */
export function quietHoursProblem(
  quietHours: QuietHours,
): { readonly field: keyof QuietHours; readonly message: string } | undefined {
  for (const field of ['from', 'to'] as const) {
    if (!TIME.test(quietHours[field])) return { field, message: 'must be a time of day like 21:30' };
  }
  if (!isTimeZone(quietHours.timeZone))
    return { field: 'timeZone', message: 'must be an IANA time zone like Europe/Berlin' };
  if (openMinutes(quietHours) < LEAST_OPEN_MINUTES || openMinutes(quietHours) === DAY_MINUTES)
    return { field: 'to', message: 'must differ from `from`, and leave at least one hour a day' };
  return undefined;
}

/**
 * Returns the first moment from `nowMs` on outside the quiet hours, in Unix milliseconds. It is `nowMs` if that is
 * outside. When clocks change, the time that they show counts.
 */
export function quietUntilMs(quietHours: QuietHours, nowMs: number): number {
  const minute = minuteIn(quietHours.timeZone, nowMs);
  if (!isQuietAt(quietHours, minute)) return nowMs;
  const endMs = nextMs({ nowMs, minute }, quietHours.to);
  return shows(quietHours.timeZone, endMs, quietHours.to) ? endMs : afterChangeMs(quietHours, nowMs);
}

/** Finds the first open moments for times that never go back. It keeps each result until a later time changes it. */
export class OpenHours {
  readonly #known = new Map<string, { readonly opensMs: number; readonly closesMs: number }>();

  /** Like `quietUntilMs`. */
  fromMs(quietHours: QuietHours, nowMs: number): number {
    const key = `${quietHours.from} ${quietHours.to} ${quietHours.timeZone}`;
    const known = this.#known.get(key);
    if (known !== undefined && nowMs < known.closesMs) return Math.max(nowMs, known.opensMs);
    const opensMs = quietUntilMs(quietHours, nowMs);
    this.#known.set(key, { opensMs, closesMs: openUntilMs(quietHours, opensMs) });
    return opensMs;
  }
}

/** Returns the date in a zone, `YYYY-MM-DD`, and a moment until which it stays so. */
export function dayIn(
  timeZone: string,
  atMs: number,
): { readonly date: string; readonly sameUntilMs: number } {
  const { year, month, day, hour, minute } = clockIn(timeZone, atMs);
  const minutesLeft = DAY_MINUTES - Number(hour) * 60 - Number(minute) - LARGEST_CHANGE_MINUTES;
  const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const sameUntilMs = minutesLeft > 0 ? minuteMs + minutesLeft * MINUTE_MS : quarterAfter(atMs);
  return { date: `${year}-${month}-${day}`, sameUntilMs };
}

/** Returns a moment until which it stays open, if `openMs` is open. It may stay open for longer. */
function openUntilMs({ from, timeZone }: QuietHours, openMs: number): number {
  const untilMs = nextMs({ nowMs: openMs, minute: minuteIn(timeZone, openMs) }, from);
  // Clocks that are changed in between may show quiet hours sooner.
  return shows(timeZone, untilMs, from) ? untilMs : Math.min(untilMs, quarterAfter(openMs));
}

/** Returns when a clock that shows this minute of the day shows `time` next, if the clock is not changed before. */
function nextMs(moment: { readonly nowMs: number; readonly minute: number }, time: string): number {
  const minutes = (minutesOf(time) - moment.minute + DAY_MINUTES) % DAY_MINUTES;
  return Math.floor(moment.nowMs / MINUTE_MS) * MINUTE_MS + minutes * MINUTE_MS;
}

function shows(timeZone: string, atMs: number, time: string): boolean {
  return minuteIn(timeZone, atMs) === minutesOf(time);
}

/** Like `quietUntilMs`, if clocks are changed before the quiet hours end. */
function afterChangeMs(quietHours: QuietHours, nowMs: number): number {
  const isQuiet = (atMs: number): boolean => isQuietAt(quietHours, minuteIn(quietHours.timeZone, atMs));
  let openMs = quarterAfter(nowMs);
  for (let quarter = 0; quarter < LONGEST_QUARTERS && isQuiet(openMs); quarter += 1) openMs += QUARTER_MS;
  // The last minutes of the quarter before may be open, too. The minute of `nowMs` is not.
  while (!isQuiet(openMs - MINUTE_MS)) openMs -= MINUTE_MS;
  return openMs;
}

function quarterAfter(atMs: number): number {
  return Math.floor(atMs / QUARTER_MS) * QUARTER_MS + QUARTER_MS;
}

function isQuietAt({ from, to }: QuietHours, minuteNow: number): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return start < end ? minuteNow >= start && minuteNow < end : minuteNow >= start || minuteNow < end;
}

/** Returns the minute of the day that clocks of the zone show. */
function minuteIn(timeZone: string, atMs: number): number {
  const { hour, minute } = clockIn(timeZone, atMs);
  return Number(hour) * 60 + Number(minute);
}

function openMinutes({ from, to }: QuietHours): number {
  return (minutesOf(from) - minutesOf(to) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

/** An offset is not a zone: its clocks never change. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** One format takes 50 µs to make and some kilobytes. */
const MOST_FORMATS = 64;
const formatOf = memoize(MOST_FORMATS, (timeZone: string) => {
  const digits = { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', hourCycle: 'h23', ...digits });
});

function clockIn(timeZone: string, atMs: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
}
