/** Hours of each day, by the clocks of one place, in which nothing of a batch leaves. */
import { MINUTE_MS } from './durations.ts';

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
/** Each day needs an hour in which something may leave, or nobody could say when a batch ends. */
const LEAST_OPEN_MINUTES = 60;
/** No change of clocks makes quiet hours last longer than this. */
const LONGEST_QUARTERS = 4 * 50;

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** What is wrong with quiet hours, with the field that it is about; undefined: nothing. */
export function quietHoursProblem(
  quiet: QuietHours,
): { readonly field: keyof QuietHours; readonly message: string } | undefined {
  for (const field of ['from', 'to'] as const) {
    if (!TIME.test(quiet[field])) return { field, message: 'must be a time of day like 21:30' };
  }
  if (!isTimeZone(quiet.timeZone)) {
    return { field: 'timeZone', message: 'must be an IANA time zone like Europe/Berlin' };
  }
  if (openMinutes(quiet) < LEAST_OPEN_MINUTES || openMinutes(quiet) === DAY_MINUTES) {
    return { field: 'to', message: 'must leave at least an hour of the day, and not all of it' };
  }
  return undefined;
}

/**
 * The first moment from `nowMs` on that is not within the quiet hours, in Unix milliseconds; `nowMs` where it is none of them.
 * Clocks that are changed count as they show the time.
 */
export function quietUntilMs(quiet: QuietHours, nowMs: number): number {
  if (!isQuiet(quiet, nowMs)) return nowMs;
  let openMs = Math.floor(nowMs / QUARTER_MS) * QUARTER_MS + QUARTER_MS;
  for (let quarter = 0; quarter < LONGEST_QUARTERS && isQuiet(quiet, openMs); quarter += 1)
    openMs += QUARTER_MS;
  // The quarter before has the first open minute, if it is not its end.
  const earliestMs = Math.max(nowMs, openMs - QUARTER_MS);
  while (openMs - MINUTE_MS > earliestMs && !isQuiet(quiet, openMs - MINUTE_MS)) openMs -= MINUTE_MS;
  return openMs;
}

/** The calendar's date in a zone, `YYYY-MM-DD`. */
export function dateIn(timeZone: string, atMs: number): string {
  const { year, month, day } = clockIn(timeZone, atMs);
  return `${year}-${month}-${day}`;
}

function isQuiet({ from, to, timeZone }: QuietHours, atMs: number): boolean {
  const { hour, minute } = clockIn(timeZone, atMs);
  const now = Number(hour) * 60 + Number(minute);
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return start < end ? now >= start && now < end : now >= start || now < end;
}

function openMinutes({ from, to }: QuietHours): number {
  return (minutesOf(from) - minutesOf(to) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

/** An offset is no zone: it knows no changes of clocks. */
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
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  if (formats.size >= MOST_FORMATS) formats.clear();
  const digits = { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, year: 'numeric', hourCycle: 'h23' },
    ...digits,
  });
  formats.set(timeZone, format);
  return format;
}

function clockIn(timeZone: string, atMs: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
}
