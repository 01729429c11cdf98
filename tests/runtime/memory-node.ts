import type { RuntimeLimits } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/logger.ts';
import { assembleNode, type RuntimeNode } from '../../runtime/node/node.ts';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import { FakeClock, ProcessClock } from '../testbed/fake-clock.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { type CounterHooks, counterBehaviour } from './counter-behaviour.ts';
import { type CallOutcome, MemoryEngine } from './memory-engine.ts';
import { MemoryRedis } from './memory-redis.ts';
import { TEST_CIPHERS } from './test-ciphers.ts';

/** One node of counters on a Redis in memory, with a fake clock. */
export interface MemoryNode {
  readonly node: RuntimeNode;
  readonly clock: FakeClock;
  /** The node's own wall clock. Until it is stepped, it shows the time of `clock`. */
  readonly own: ProcessClock;
  readonly redis: MemoryRedis;
  readonly engine: MemoryEngine;
  readonly log: QuietLog;
  /** Sets the outcome of the next calls to Redis, by default of all of them. */
  callOutcome(outcome: CallOutcome, calls?: number): void;
  /** Waits for a promise while time passes. Resolves with its failure's code instead of rejecting. */
  outcome(promise: Promise<unknown>): Promise<unknown>;
}

/** Starts a node that owns every shard. Given another one's `on`, it shares its clock and its Redis. */
export async function memoryNode(
  options: {
    readonly nodeId?: string;
    readonly hooks?: CounterHooks;
    readonly limits?: Partial<RuntimeLimits>;
    readonly on?: MemoryNode;
    /** How far its wall clock is ahead from the start. */
    readonly aheadMs?: number;
    readonly deadLetterCipher?: TextCipher;
    /** Gets the lines of the log. Without it, `MemoryNode.log` gets them. */
    readonly log?: Logger;
  } = {},
): Promise<MemoryNode> {
  const clock = options.on?.clock ?? new FakeClock();
  const ownClock = new ProcessClock(clock);
  ownClock.stepWall(options.aheadMs ?? 0);
  const redis = options.on?.redis ?? new MemoryRedis(clock);
  const log = new QuietLog();
  let callOutcome: CallOutcome = 'arrives';
  let withOutcome = 0;
  const nextOutcome = (): CallOutcome => {
    withOutcome -= 1;
    return withOutcome >= 0 ? callOutcome : 'arrives';
  };
  const engine = new MemoryEngine(redis, { clock, outcome: nextOutcome });
  const outcome = async (promise: Promise<unknown>): Promise<unknown> => {
    let settled: { readonly value: unknown } | undefined;
    promise.then(
      (value) => {
        settled = { value };
      },
      (error: { code?: string; message: string }) => {
        settled = { value: error.code ?? error.message };
      },
    );
    await clock.until(() => settled !== undefined);
    return settled?.value;
  };
  const node = assembleNode(engine, {
    nodeId: options.nodeId ?? 'a',
    clock: ownClock,
    random: seededRandom(redis.nextSequence()),
    log: options.log ?? log,
    limits: options.limits ?? {},
    ...TEST_CIPHERS,
    ...(options.deadLetterCipher === undefined ? {} : { deadLetterCipher: options.deadLetterCipher }),
    afterTick: (callback) => void clock.after(0, callback),
  });
  node.register(counterBehaviour(options.hooks));
  await outcome(node.run());
  return {
    node,
    clock,
    own: ownClock,
    redis,
    engine,
    log,
    outcome,
    callOutcome(next, calls = Number.POSITIVE_INFINITY) {
      callOutcome = next;
      withOutcome = calls;
    },
  };
}
