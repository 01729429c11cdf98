import { randomBytes } from 'node:crypto';

/** Uniform in [0, 1). Passed in wherever chance matters; tests pass a seeded one. */
export type Random = () => number;

const BYTES_EACH = 6;
/** Drawn ahead: a call of the generator costs more than all its bytes. */
const POOL_BYTES = 256 * BYTES_EACH;
let pool = Buffer.alloc(0);
let used = 0;

/** Uniform from the operating system's generator, so that gaps between sends cannot be predicted. */
export const systemRandom: Random = () => {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += BYTES_EACH;
  return pool.readUIntBE(used - BYTES_EACH, BYTES_EACH) / 2 ** (8 * BYTES_EACH);
};

/** A small seeded generator (mulberry32) for tests and simulations; not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
