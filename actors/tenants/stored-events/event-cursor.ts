/** The position before every event. */
export const START_OF_STREAM = '0-0';

const DIGITS = 12;
const MOST = 2n ** 48n - 1n;

/** Returns a position in a stream as callers see it: milliseconds and sequence number, 12 hexadecimal digits each. */
export function cursorOf(streamId: string): string {
  return timeAndSequence(streamId)
    .map((number) => number.toString(16).padStart(DIGITS, '0'))
    .join('');
}

/** Returns the position that a cursor of 24 hexadecimal digits names. */
export function streamIdOf(cursor: string): string {
  return `${BigInt(`0x${cursor.slice(0, DIGITS)}`)}-${BigInt(`0x${cursor.slice(DIGITS)}`)}`;
}

/** Returns the last position before this one, from which a reader gets the event at it. */
export function placeBefore(streamId: string): string {
  const [ms, sequence] = timeAndSequence(streamId);
  if (sequence > 0n) return `${ms}-${sequence - 1n}`;
  return ms > 0n ? `${ms - 1n}-${MOST}` : START_OF_STREAM;
}

/** True if `left` comes before `right`. */
export function isBefore(left: string, right: string): boolean {
  const [ms, sequence] = timeAndSequence(left);
  const [otherMs, otherSequence] = timeAndSequence(right);
  return ms < otherMs || (ms === otherMs && sequence < otherSequence);
}

/**
 * Returns the time at which the event at this position was stored, by the clock of Redis; milliseconds since the Unix
 * epoch.
 */
export function storedAtMs(streamId: string): number {
  return Number(timeAndSequence(streamId)[0]);
}

function timeAndSequence(streamId: string): [ms: bigint, sequence: bigint] {
  const [ms = '0', sequence = '0'] = streamId.split('-');
  return [BigInt(ms), BigInt(sequence)];
}
