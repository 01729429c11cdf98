import type { Bench, BenchContext, Run, Target } from '../harness/bench.ts';
import { figuresOf } from '../harness/bench.ts';
import type { FleetSize } from '../harness/fleet.ts';
import { type Durability, type RunningSide, type SideName, startSide } from '../harness/side.ts';
import { type LoadResult, MESSAGES_PER_SHOP } from '../load/load-plan.ts';
import { identityRequests, load, sendRequests } from './loads.ts';

/** Ten tenants whose shops have no sessions, for benches that need none. */
const SMALL_FLEET: FleetSize = {
  tenants: 10,
  shopsPerTenant: 1,
  customers: 100,
  connected: false,
  held: false,
};

/** How many messages a second the shops must have room for. */
const SENDS_PER_SECOND_PLANNED = 20_000;
const SHOPS_PER_TENANT = 500;

/** Connected, warm shops with known recipients, enough for a load of so many seconds. */
export function sendingFleet(seconds: number, held: boolean): FleetSize {
  return fleetFor({ messages: SENDS_PER_SECOND_PLANNED * seconds, held });
}

/** As many connected, warm shops as may take so many messages. */
export function fleetFor({
  messages,
  held,
}: {
  readonly messages: number;
  readonly held: boolean;
}): FleetSize {
  const shops = Math.ceil(messages / MESSAGES_PER_SHOP);
  const tenants = Math.max(4, Math.ceil(shops / SHOPS_PER_TENANT));
  return { tenants, shopsPerTenant: Math.ceil(shops / tenants), customers: 1_000, connected: true, held };
}

interface Comparison extends Pick<Bench, 'name' | 'title' | 'isMain'> {
  readonly sides: readonly SideName[];
  readonly fleet: (seconds: number) => FleetSize;
  readonly durability?: Durability;
  readonly targets: readonly Omit<Target, 'side'>[];
  readonly measure: (side: RunningSide, context: BenchContext) => Promise<LoadResult>;
}

/** The sides take turns, each in fresh processes, so that a change in the machine's speed affects all of them alike. */
function comparison(parts: Comparison): Bench {
  const { name, title, isMain, sides, durability } = parts;
  return {
    name,
    title,
    isMain,
    targets: parts.targets.map((target) => ({ side: 'service', ...target })),
    async run(context) {
      const runs: Run[] = [];
      for (let round = 1; round <= context.rounds; round += 1) {
        for (const side of sides) {
          context.progress(`${name}: round ${round} of ${context.rounds}, ${side}`);
          const running = await startSide(side, {
            fleet: parts.fleet(context.seconds),
            directory: context.directory,
            ...(durability === undefined ? {} : { durability }),
          });
          try {
            runs.push({ side, round, figures: figuresOf(await parts.measure(running, context)) });
          } finally {
            await running.stop();
          }
        }
      }
      return runs;
    },
  };
}

const sendSides: readonly SideName[] = ['service', 'floor-parsed', 'fastify-redis', 'fastify-memory'];
const readSides: readonly SideName[] = ['service', 'floor-bare', 'fastify-memory'];

/** The seconds of warm-up count too: they use up what shops may send. */
const withWarmup = (seconds: number): number => seconds + 4;

/** Sends, then asks for the newest of them again and again. */
async function readBack(side: RunningSide, context: BenchContext): Promise<LoadResult> {
  const { messages } = await load(side, sendRequests(side), { seconds: 2, warmupMs: 500 });
  return load(side, { kind: 'read', messages }, context);
}

const STORED_READ = { writeSeconds: 11, warmupMs: 2_000, readSeconds: 2, backWithinMs: 60_000 } as const;

/** Sends, starts the node again and asks for each message once, so that no cache has it. */
async function readStored(side: RunningSide): Promise<LoadResult> {
  const { writeSeconds, warmupMs, readSeconds } = STORED_READ;
  const written = { seconds: writeSeconds, warmupMs: 500, keptMessages: 1_000_000 };
  const { messages } = await load(side, sendRequests(side), written);
  await side.restart();
  await sessionsBack(side);
  const result = await load(side, { kind: 'read', messages, once: true }, { seconds: readSeconds, warmupMs });
  if (result.requests === 0) throw new Error(`all ${messages.length} messages were read before it was warm`);
  return result;
}

/** Waits until every shop has its session again, so that reopening them is not measured. */
async function sessionsBack({ look, fleet }: RunningSide): Promise<void> {
  const untilMs = performance.now() + STORED_READ.backWithinMs;
  for (;;) {
    const { connectedAtMs } = await look();
    if (connectedAtMs.length >= fleet.shops.length) return;
    if (performance.now() > untilMs) throw new Error(`only ${connectedAtMs.length} sessions came back`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Benches that compare the service with floors and with common alternatives. */
export const comparisons: readonly Bench[] = [
  comparison({
    name: 'me',
    title: 'GET /me',
    isMain: true,
    sides: ['service', 'floor-bare', 'floor-by-hand', 'fastify-redis', 'fastify-memory'],
    fleet: () => SMALL_FLEET,
    targets: [
      { against: 'floor-bare', must: 0.65, aim: 0.8 },
      { against: 'fastify-redis', must: 5, aim: 8 },
      { against: 'fastify-memory', must: 2, aim: 3 },
    ],
    measure: (side, context) => load(side, identityRequests(side), context),
  }),
  comparison({
    name: 'send',
    title: 'POST /shops/{id}/messages, appendfsync always',
    isMain: true,
    sides: sendSides,
    fleet: (seconds) => sendingFleet(withWarmup(seconds), true),
    durability: 'always',
    targets: [
      { against: 'floor-parsed', must: 0.18, aim: 0.27 },
      { against: 'fastify-redis', must: 6, aim: 8 },
      { against: 'fastify-memory', must: 2, aim: 2.5 },
    ],
    measure: (side, context) => load(side, sendRequests(side), context),
  }),
  comparison({
    name: 'send-everysec',
    title: 'POST /shops/{id}/messages, appendfsync everysec',
    isMain: true,
    sides: sendSides,
    fleet: (seconds) => sendingFleet(withWarmup(seconds), true),
    durability: 'everysec',
    targets: [{ against: 'floor-parsed', must: 0.28, aim: 0.4 }],
    measure: (side, context) => load(side, sendRequests(side), context),
  }),
  comparison({
    name: 'read',
    title: 'GET /messages/{id}, accepted a moment ago',
    isMain: true,
    sides: readSides,
    fleet: () => sendingFleet(3, true),
    durability: 'everysec',
    targets: [{ against: 'floor-bare', must: 0.55, aim: 0.7 }],
    measure: (side, context) =>
      side.watch.redis === undefined ? load(side, identityRequests(side), context) : readBack(side, context),
  }),
  comparison({
    name: 'read-stored',
    title: 'GET /messages/{id}, each from Redis',
    isMain: true,
    sides: ['service', 'floor-bare'],
    fleet: () => sendingFleet(STORED_READ.writeSeconds + 1, true),
    durability: 'everysec',
    targets: [{ against: 'floor-bare', must: 0.25, aim: 0.3 }],
    measure: (side, context) =>
      side.watch.redis === undefined ? load(side, identityRequests(side), context) : readStored(side),
  }),
];
