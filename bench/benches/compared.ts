import type { Bench, BenchContext, LoadClient, RatioTarget, Run, Target } from '../harness/bench.ts';
import { figuresOf } from '../harness/bench.ts';
import type { Build } from '../harness/build.ts';
import type { FleetSize } from '../harness/fleet.ts';
import { identityRequests, load, sendRequests } from '../harness/load.ts';
import type { Appendfsync, RunningSide } from '../harness/running-side.ts';
import { sessionsBack } from '../harness/sessions-back.ts';
import { type SideName, startSide } from '../harness/side.ts';
import { type LoadPlan, type LoadResult, MESSAGES_PER_SHOP } from '../load/load-plan.ts';

/** Ten tenants whose shops have no sessions, for benches that need none. */
const SMALL_FLEET: FleetSize = {
  tenants: 10,
  shopsPerTenant: 1,
  customers: 100,
  isConnected: false,
  isPaused: false,
};

/** How many messages a second the shops must be allowed to send. */
const SENDS_PER_SECOND_PLANNED = 32_000;
const SHOPS_PER_TENANT = 500;

/** Returns a fleet of connected, warm shops with known recipients, enough for a load of `seconds`. */
export function sendingFleet(seconds: number, isPaused: boolean): FleetSize {
  return fleetFor({ messages: SENDS_PER_SECOND_PLANNED * seconds, isPaused });
}

/** Returns a fleet with enough connected, warm shops for the given number of messages. */
export function fleetFor({
  messages,
  isPaused,
}: {
  readonly messages: number;
  readonly isPaused: boolean;
}): FleetSize {
  const shops = Math.ceil(messages / MESSAGES_PER_SHOP);
  const tenants = Math.max(4, Math.ceil(shops / SHOPS_PER_TENANT));
  const shopsPerTenant = Math.ceil(shops / tenants);
  return { tenants, shopsPerTenant, customers: 1_000, isConnected: true, isPaused };
}

/** The pace of a load: as fast as the answers come, unless a rate is given. */
type Pace = Partial<Pick<LoadPlan, 'ratePerSecond' | 'warmupMs'>> & { readonly client?: LoadClient };

interface Comparison extends Pick<Bench, 'name' | 'title' | 'isMain' | 'targets'> {
  readonly sides: readonly SideName[];
  readonly fleet: (seconds: number) => FleetSize;
  readonly appendfsync?: Appendfsync;
  /** Targets for the same sides at one rate. If absent, they are not compared at one rate. */
  readonly rateTargets?: readonly Target[];
  readonly measure: (side: RunningSide, context: BenchContext, pace: Pace) => Promise<LoadResult>;
}

/** A side of a comparison. */
interface Compared {
  readonly label: string;
  readonly name: SideName;
  readonly build: Build;
}

/** How long the peak of each side is looked for before all are asked at one rate. */
const PEAK_SECONDS = 2;
/** At half of a peak it takes longer until all code is compiled. */
const RATE_WARMUP_MS = 5_000;

/** Compares the sides at full speed, and if requested at one rate too. */
function comparison(parts: Comparison): Bench[] {
  const { name, title, isMain, targets, rateTargets } = parts;
  const peak: Bench = {
    name,
    title,
    isMain,
    targets,
    comparesBuilds: true,
    run: (context) => inTurns(name, parts, context, (side) => parts.measure(side, context, {})),
  };
  if (rateTargets === undefined) return [peak];
  const atRate: Bench = {
    name: `${name}-at-rate`,
    isMain,
    targets: rateTargets,
    comparesBuilds: true,
    title: `${title}, all sides at half of the slowest one's peak`,
    async run(context) {
      const ratePerSecond = context.setting('rate', 0) || (await halfOfSlowest(parts, context));
      const pace = { ratePerSecond, client: context.rateClient, warmupMs: RATE_WARMUP_MS };
      const runs = await inTurns(`${name}-at-rate`, parts, context, (side) =>
        parts.measure(side, context, pace),
      );
      return runs.map((run) => ({ ...run, figures: { offeredPerSecond: ratePerSecond, ...run.figures } }));
    },
  };
  return [peak, atRate];
}

async function halfOfSlowest(parts: Comparison, context: BenchContext): Promise<number> {
  const short = { ...context, rounds: 1, seconds: Math.min(PEAK_SECONDS, context.seconds) };
  const runs = await inTurns(`${parts.name}-at-rate, its peak`, parts, short, (side) =>
    parts.measure(side, short, {}),
  );
  return Math.floor(Math.min(...runs.map(({ figures }) => figures.perSecond ?? 0)) / 2);
}

/**
 * The sides alternate, each in fresh processes, so a change in the machine's speed affects all of them alike. Every
 * other round runs in reverse, so their order does not matter either.
 */
async function inTurns(
  title: string,
  { sides: names, fleet, appendfsync }: Comparison,
  context: BenchContext,
  measure: (side: RunningSide) => Promise<LoadResult>,
): Promise<Run[]> {
  const sides = sidesOf(names, context);
  const runs: Run[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    for (const { label, name, build } of round % 2 === 1 ? sides : sides.toReversed()) {
      context.progress(`${title}: round ${round} of ${context.rounds}, ${label}`);
      const runningSide = await startSide(name, {
        fleet: fleet(context.seconds),
        directory: context.directory,
        build,
        ...(appendfsync === undefined ? {} : { appendfsync }),
      });
      try {
        runs.push({ side: label, round, figures: figuresOf(await measure(runningSide)) });
      } finally {
        await runningSide.stop();
      }
    }
  }
  return runs;
}

function sidesOf(names: readonly SideName[], { build, against, sides: chosen }: BenchContext): Compared[] {
  const builds = names.map((name): Compared => ({ label: name, name, build }));
  if (against !== undefined) builds.splice(1, 0, { label: against.label, name: 'service', build: against });
  return builds.filter(({ label }) => chosen === undefined || chosen.has(label));
}

const sendSides: readonly SideName[] = [
  'service',
  'send-by-hand',
  'floor-parsed',
  'fastify-redis',
  'fastify-memory',
];
const readSides: readonly SideName[] = ['service', 'floor-bare', 'fastify-memory'];

/** The seconds of warm-up count too: they use up what shops may send. */
const withWarmup = (seconds: number): number => seconds + 4;

/** Sends messages, then reads the newest of them again and again. */
async function readBack(side: RunningSide, { seconds }: BenchContext, pace: Pace): Promise<LoadResult> {
  const { messages } = await load(side, sendRequests(side), { seconds: 2, warmupMs: 500 });
  return load(side, { kind: 'read', messages }, { seconds, ...pace });
}

const STORED_READ = { writeSeconds: 11, warmupMs: 2_000, readSeconds: 2 } as const;

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

/** The CPU of a send against the same work by hand, storage included: the cost of the design. */
const BY_HAND: Target = {
  kind: 'at most',
  side: 'service',
  against: 'send-by-hand',
  figure: 'totalCpuUs',
  must: 1.5,
  aim: 1.25,
};

/** Returns the target of the service beside a floor, by throughput or by its own CPU. */
const ofFloor = (
  against: SideName,
  figure: RatioTarget['figure'],
  [must, aim]: readonly [number, number],
): Target => ({ kind: 'at least', side: 'service', against, figure, must, aim });

/** Benches that compare the service with floors and with common alternatives. */
export const comparisons: readonly Bench[] = [
  comparison({
    name: 'me',
    title: 'GET /me',
    isMain: true,
    sides: ['service', 'floor-bare', 'floor-by-hand', 'fastify-redis', 'fastify-memory'],
    fleet: () => SMALL_FLEET,
    targets: [ofFloor('floor-bare', 'serverCpuUs', [0.5, 0.57])],
    rateTargets: [ofFloor('floor-bare', 'serverCpuUs', [0.5, 0.57])],
    measure: (side, { seconds }, pace) => load(side, identityRequests(side), { seconds, ...pace }),
  }),
  comparison({
    name: 'send',
    title: 'POST /shops/{id}/messages, appendfsync always',
    isMain: true,
    sides: sendSides,
    fleet: (seconds) => sendingFleet(withWarmup(seconds), true),
    appendfsync: 'always',
    targets: [
      ofFloor('floor-parsed', 'perSecond', [0.18, 0.22]),
      ofFloor('fastify-redis', 'perSecond', [2.3, 2.8]),
      ofFloor('fastify-memory', 'perSecond', [2, 2.3]),
    ],
    rateTargets: [BY_HAND],
    measure: (side, { seconds }, pace) => load(side, sendRequests(side), { seconds, ...pace }),
  }),
  comparison({
    name: 'send-everysec',
    title: 'POST /shops/{id}/messages, appendfsync everysec',
    isMain: true,
    sides: sendSides,
    fleet: (seconds) => sendingFleet(withWarmup(seconds), true),
    appendfsync: 'everysec',
    targets: [ofFloor('floor-parsed', 'perSecond', [0.19, 0.24])],
    rateTargets: [BY_HAND],
    measure: (side, { seconds }, pace) => load(side, sendRequests(side), { seconds, ...pace }),
  }),
  comparison({
    name: 'read',
    title: 'GET /messages/{id}, accepted a moment ago',
    isMain: true,
    sides: readSides,
    fleet: () => sendingFleet(3, true),
    appendfsync: 'everysec',
    targets: [ofFloor('floor-bare', 'serverCpuUs', [0.45, 0.52])],
    rateTargets: [ofFloor('floor-bare', 'serverCpuUs', [0.45, 0.52])],
    measure: (side, context, pace) =>
      side.watch.redis === undefined
        ? load(side, identityRequests(side), { seconds: context.seconds, ...pace })
        : readBack(side, context, pace),
  }),
  comparison({
    name: 'read-stored',
    title: 'GET /messages/{id}, each from Redis',
    isMain: true,
    sides: ['service', 'floor-bare'],
    fleet: () => sendingFleet(STORED_READ.writeSeconds + 1, true),
    appendfsync: 'everysec',
    targets: [ofFloor('floor-bare', 'perSecond', [0.25, 0.3])],
    measure: (side, { seconds }) =>
      side.watch.redis === undefined ? load(side, identityRequests(side), { seconds }) : readStored(side),
  }),
].flat();
