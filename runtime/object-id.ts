import type { Random } from './random.ts';

/** 24 lower-case hexadecimal characters: 4 bytes of Unix seconds, 5 random bytes a generator, a 3-byte counter. */
export type ObjectId = string;

/** True for the shape of an ObjectId, in either case. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text);
}

/** How many characters of an id are its Unix seconds. */
const SECONDS_DIGITS = 8;

/** Returns when an id was made, in milliseconds since the Unix epoch: whole seconds. */
export function madeAtMs(id: ObjectId): number {
  return Number.parseInt(id.slice(0, SECONDS_DIGITS), 16) * 1_000;
}

/** Returns the beginning of ids made at that moment: all ids made then or later are greater. */
export function idsFrom(atMs: number): string {
  return hex(Math.floor(atMs / 1_000), SECONDS_DIGITS);
}

/**
 * Makes ids that sort as text in the order of their making, as list cursors need. Within one generator an id is always
 * greater than the one before, also when the wall clock steps back. (BSON ObjectId layout.)
 */
export function objectIdGenerator(random: Random): (nowMs: number) => ObjectId {
  const process = hex(Math.floor(random() * 2 ** 40), 10);
  let lastSeconds = 0;
  let counter = 0;
  let prefix = '';
  return (nowMs) => {
    const seconds = Math.max(lastSeconds, Math.floor(nowMs / 1_000));
    counter = seconds === lastSeconds ? counter + 1 : 0;
    const isSpent = counter > 0xffffff;
    if (isSpent) counter = 0;
    if (isSpent || seconds !== lastSeconds || prefix === '') {
      lastSeconds = isSpent ? seconds + 1 : seconds;
      prefix = hex(lastSeconds, SECONDS_DIGITS) + process;
    }
    // The digits go first: their own string would be too short to be a piece.
    const digits = `${TRIPLES[counter >>> 12]}${TRIPLES[counter & 0xfff]}`;
    return prefix + digits;
  };
}

/** Three digits each, half of a counter: every call makes an id. */
const TRIPLES = Array.from({ length: 0x1000 }, (_, triple) => hex(triple, 3));

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
