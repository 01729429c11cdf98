/**
 * Time of a call and bytes of a window at 100,000 keys with a minute, an hour and a day window each: ours, an array
 * of timestamps for each window, and rate-limiter-flexible's memory limiter (fixed windows).
 * Run: node --import tsx bench/policy/rate-windows.ts
 */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { DEFAULT_RATE_LIMITS, KeyLimits, type RateLimits } from '../../policy/limits/key-limits.ts';
import { seededRandom } from '../../runtime/random.ts';
import { alternate, bytesInUse, medianNs, sideToRun } from './alternate.ts';

interface Contender {
  /** True when the call was let through. */
  take(keyId: string, nowMs: number): boolean | Promise<boolean>;
}

const keyCount = 100_000;
const windowsPerKey = 3;
const startMs = Date.now();

function ours(limits: RateLimits): Contender {
  const keys = new KeyLimits();
  return { take: (keyId, nowMs) => keys.take({ keyId, limits, nowMs }).allowed };
}

/** The plain implementation: exact at any limit, with memory that grows with the traffic. */
function arrays(limits: RateLimits): Contender {
  const windows = [
    { limit: limits.minute, windowMs: 60_000 },
    { limit: limits.hour, windowMs: 3_600_000 },
    { limit: limits.day, windowMs: 86_400_000 },
  ];
  const keys = new Map<string, number[][]>();
  return {
    take(keyId, nowMs) {
      const times = keys.get(keyId) ?? windows.map(() => []);
      keys.set(keyId, times);
      const isFree = windows.every(({ limit, windowMs }, index) => {
        const taken = times[index] as number[];
        while ((taken[0] ?? nowMs) <= nowMs - windowMs) {
          taken.shift();
        }
        return taken.length < limit;
      });
      if (isFree) {
        for (const taken of times) {
          taken.push(nowMs);
        }
      }
      return isFree;
    },
  };
}

/** Reads the process's clock by itself and counts in fixed windows, which may let through twice the limit. */
function flexible(limits: RateLimits): Contender {
  const limiters = [
    new RateLimiterMemory({ points: limits.minute, duration: 60 }),
    new RateLimiterMemory({ points: limits.hour, duration: 3600 }),
    new RateLimiterMemory({ points: limits.day, duration: 86_400 }),
  ];
  return {
    async take(keyId) {
      try {
        for (const limiter of limiters) {
          await limiter.consume(keyId);
        }
        return true;
      } catch {
        return false;
      }
    },
  };
}

const sides: Readonly<Record<string, (limits: RateLimits) => Contender>> = {
  ours,
  arrays,
  'rate-limiter-flexible': flexible,
};

/** 100,000 keys with `callsPerKey` calls each, a second between rounds: bytes a window, and the mean time of a call. */
async function fill(
  contender: Contender,
  callsPerKey: number,
): Promise<{ bytes: number; nsPerCall: number }> {
  const names = Array.from({ length: keyCount }, (_, index) => `key-${index}`);
  const before = bytesInUse();
  const startedNs = process.hrtime.bigint();
  for (let call = 0; call < callsPerKey; call += 1) {
    for (const name of names) {
      const taken = contender.take(name, startMs + call * 1000);
      if (typeof taken !== 'boolean') {
        await taken;
      }
    }
  }
  const elapsedNs = Number(process.hrtime.bigint() - startedNs);
  const bytes = (bytesInUse() - before) / (keyCount * windowsPerKey);
  return { bytes: Math.round(bytes), nsPerCall: Math.round(elapsedNs / (keyCount * callsPerKey)) };
}

/** Calls of 1,000 keys in random order, in time so that old calls go as new ones come. */
async function busyNs(contender: Contender): Promise<number> {
  const random = seededRandom(1);
  const names = Array.from({ length: 1000 }, (_, index) => `busy-${index}`);
  const order = Array.from({ length: 1 << 16 }, () => names[Math.floor(random() * names.length)] as string);
  const nowMs = (index: number): number => startMs + 60_000 + Math.floor(index / 4);
  const nameAt = (index: number): string => order[index & (order.length - 1)] as string;
  if (typeof contender.take('probe', startMs) === 'boolean') {
    const call = (index: number): void => void contender.take(nameAt(index), nowMs(index));
    return medianNs({ batches: 2000, batch: 500, call });
  }
  const times: number[] = [];
  for (let batch = 0; batch < 2000; batch += 1) {
    const startedNs = process.hrtime.bigint();
    for (let index = 0; index < 500; index += 1) {
      await contender.take(nameAt(batch * 500 + index), 0);
    }
    times.push(Number(process.hrtime.bigint() - startedNs) / 500);
  }
  return Math.round(times.slice(400).sort((left, right) => left - right)[800] as number);
}

async function measure(side: string): Promise<void> {
  const make = sides[side] as (limits: RateLimits) => Contender;
  const few = make(DEFAULT_RATE_LIMITS);
  const quiet = await fill(few, 5);
  const many = make({ minute: 1000, hour: 1000, day: 10_000 });
  const filled = await fill(many, 60);
  const figures = {
    'bytes/window, 5 calls a key': quiet.bytes,
    'ns/call, 5 calls a key': quiet.nsPerCall,
    'bytes/window, 60 calls a key': filled.bytes,
    'ns/call, 60 calls a key': filled.nsPerCall,
    'ns/call, median, 1000 busy keys': await busyNs(make({ minute: 60, hour: 1000, day: 10_000 })),
  };
  // The contenders stay in use to the end, so that nothing of theirs is collected early.
  await few.take('key-0', startMs + 60_000);
  await many.take('key-0', startMs + 60_000);
  console.log(JSON.stringify(figures));
  process.exit(0);
}

const side = sideToRun();
if (side === undefined) {
  alternate({ file: import.meta.filename, sides: Object.keys(sides), rounds: 3 });
} else {
  await measure(side);
}
