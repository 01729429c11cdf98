import type { Random } from './random.ts';

/** 24 lower-case hexadecimal characters: 4 bytes of Unix seconds, 5 random bytes a generator, a 3-byte counter. */
export type ObjectId = string;

/** True for the shape of an ObjectId, in either case. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text);
}

/**
 * Makes ids that sort as text in the order of their making, as list cursors need. Within one generator an id is always
 * greater than the one before, also when the wall clock steps back. (BSON ObjectId layout.)
 */
export function objectIdGenerator(random: Random): (nowMs: number) => ObjectId {
  const process = hex(Math.floor(random() * 2 ** 40), 10);
  let lastSeconds = 0;
  let counter = 0;
  return (nowMs) => {
    const seconds = Math.max(lastSeconds, Math.floor(nowMs / 1000));
    counter = seconds === lastSeconds ? counter + 1 : 0;
    // The counter is used up: the next second's ids begin early.
    lastSeconds = counter > 0xffffff ? seconds + 1 : seconds;
    counter &= 0xffffff;
    return hex(lastSeconds, 8) + process + hex(counter, 6);
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
