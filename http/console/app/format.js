// @ts-check
/** Formats numbers, times and words for the console. */

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** @param {number} value */
export function count(value) {
  return number.format(value);
}

/**
 * Shortens an id (24 hexadecimal digits) to twelve characters: its second, and the last digits of its number in that
 * second.
 * @param {string} id
 */
export function shortId(id) {
  return id.length <= 12 ? id : `${id.slice(0, 8)}…${id.slice(-3)}`;
}

/**
 * A length of time in its two largest units.
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return seconds % 60 === 0 || minutes >= 10 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}

/**
 * Formats the distance from now, in the past or the future.
 * @param {number} atMs
 */
export function away(atMs) {
  const ms = atMs - Date.now();
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${span(ms)}` : `${span(-ms)} ago`;
}

/** @param {number | string} at milliseconds since the epoch, or ISO 8601 */
export function clockTime(at) {
  const when = new Date(at);
  const time = when.toLocaleTimeString('en-GB');
  return when.toDateString() === new Date().toDateString() ? time : `${day(when)} ${time}`;
}

/** @param {number | string} at milliseconds since the epoch, or ISO 8601 */
export function dateAndTime(at) {
  return `${day(at)} ${new Date(at).toLocaleTimeString('en-GB')}`;
}

/** @param {number | string | Date} at */
export function day(at) {
  return new Date(at).toLocaleDateString('en-CA');
}

/** @param {string} word as in `qr_waiting` */
export function words(word) {
  return word.replaceAll('_', ' ');
}

/** @param {number | null} ms */
export function milliseconds(ms) {
  if (ms === null) return '–';
  return ms >= 1_000 ? `${count(ms / 1_000)} s` : `${ms < 10 ? count(ms) : Math.round(ms)} ms`;
}
