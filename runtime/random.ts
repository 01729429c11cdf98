import { randomBytes } from 'node:crypto';

/** Uniform in [0, 1). Passed in wherever chance matters; tests pass a seeded one. */
export type Random = () => number;

/** Values drawn from the generator at a time: a call costs more than its bytes. */
const DRAWN_AHEAD = 256;

/** Makes each value from `bytesEach` random bytes of the operating system's generator, found in `pool` at `offset`. */
export function fromRandomBytes<Value>(
  bytesEach: number,
  make: (pool: Buffer, offset: number) => Value,
): () => Value {
  let pool = Buffer.alloc(0);
  let usedBytes = 0;
  return () => {
    if (usedBytes === pool.length) {
      pool = randomBytes(DRAWN_AHEAD * bytesEach);
      usedBytes = 0;
    }
    usedBytes += bytesEach;
    return make(pool, usedBytes - bytesEach);
  };
}

/** Uniform from the operating system's generator, so that gaps between sends cannot be predicted. */
export const systemRandom: Random = fromRandomBytes(
  6,
  (pool, offset) => pool.readUIntBE(offset, 6) / 2 ** 48,
);
