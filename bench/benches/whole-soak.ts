import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Bench, BenchContext, Figures, Run } from '../harness/bench.ts';
import { heaps } from '../harness/live-memory.ts';
import type { LiveNode } from '../harness/live-node.ts';
import { liveShops, onLiveSide } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { percentile } from '../harness/percentile.ts';
import { loadAverage, residentMiB } from '../harness/process-usage.ts';
import { startSteadyMe, takeMeFigures } from '../harness/steady-me.ts';
import { startWebhookListener, type WebhookListener } from '../harness/webhook-listener.ts';
import type { SteadyCalls } from '../load/steady-calls.ts';
import { minuteOf } from '../soak/even-traffic.ts';
import { SoakKills, untilSpread } from '../soak/soak-kills.ts';
import { countOutcomes } from '../soak/soak-outcomes.ts';
import { memoryGrowth, saveMinutes } from '../soak/soak-report.ts';
import { MOST_MINUTES, makeGroups, prepareTenants } from '../soak/soak-shops.ts';
import { SoakTraffic } from '../soak/soak-traffic.ts';

const ME_PER_SECOND = 20;
/** How long the last messages and their events may take. The third attempt of a webhook is this late. */
const TAIL_MS = 6 * MINUTE_MS;
const LOOK_MS = 2_000;

const CALM = 'calm minutes';
const WITH_KILL = 'minutes with a kill';
const WHOLE = 'whole';

const never = (figure: string, must = 0, aim = must) =>
  ({ kind: 'never over', figure, sides: [WHOLE], must, aim }) as const;

/**
 * Two nodes with `--sessions=500` shops for `--minutes=120`. Each shop sends a message a minute, customers write
 * `--inbound=120` a minute, and every tenant has a webhook. The second node gets SIGKILL each `--kill-every=20`
 * minutes. The first lives throughout, so it shows growth. The round of a row of minutes is its minute.
 */
export const wholeSoak: Bench = {
  name: 'whole-soak',
  title: 'The whole for hours: sessions, inbound messages, webhooks, and one node killed again and again',
  isMain: false,
  targets: [
    never('refused'),
    never('endedOtherwise'),
    never('lost'),
    never('doubled'),
    never('endsUntold'),
    never('endsToldTwice'),
    never('inboundLost'),
    never('inboundDoubled'),
    never('killsNotBack'),
    never('firstMiBTimes', 1.2, 1.05),
    never('firstHeapTimes', 1.2, 1.05),
    never('secondMiBTimes', 1.2, 1.05),
  ],
  async run(context) {
    const runs: Run[] = [];
    const minutes = context.setting('minutes', 120);
    const count = context.setting('sessions', 500);
    if (minutes > MOST_MINUTES) throw new Error(`the send policy allows ${MOST_MINUTES} minutes`);
    const program = ['bench/sides/paced-service.js'] as const;
    const { directory, build } = context;
    await onLiveSide({ directory, build, gapMs: '200-600', nodes: 2, program }, async (side) => {
      await untilSpread(side);
      context.progress(`whole-soak: pairing ${count} shops`);
      const shops = await liveShops(side, count, 24);
      const traffic = new SoakTraffic(side, shops, minutes);
      const webhook = await startWebhookListener((event) => traffic.take(event));
      try {
        await prepareTenants(side, shops, webhook.url);
        context.progress('whole-soak: making groups');
        await makeGroups(side, shops, minutes);
        await soak({ context, side, shops, traffic, webhook, runs });
      } finally {
        webhook.close();
      }
    });
    return runs;
  },
};

interface Soak {
  readonly context: BenchContext;
  readonly side: LiveSide;
  readonly shops: readonly LiveShop[];
  readonly traffic: SoakTraffic;
  readonly webhook: WebhookListener;
  readonly runs: Run[];
}

async function soak(parts: Soak): Promise<void> {
  const { context, side, shops, traffic, runs } = parts;
  const minutes = context.setting('minutes', 120);
  const killEvery = context.setting('kill-every', 20);
  const kills = new SoakKills(side, side.nodes[1] as LiveNode, shops.length);
  const flows = [
    { perMinute: shops.length, act: (turn: number, dueMs: number) => traffic.send(turn, dueMs) },
    { perMinute: context.setting('inbound', 120), act: (turn: number) => traffic.write(turn) },
  ];
  const me = await startSteadyMe(side, shops, ME_PER_SECOND);
  const startedAt = new Date();
  const redisMiB = residentMiB(side.watch.redis);
  try {
    for (let minute = 0; minute < minutes; minute += 1) {
      if (minute > 0 && minute % killEvery === 0) kills.begin();
      const hasKill = kills.isRunning;
      await minuteOf(flows, minute);
      const figures = await minuteFigures(parts, kills, me);
      runs.push({ side: hasKill ? WITH_KILL : CALM, round: minute + 1, figures });
      context.progress(`whole-soak: minute ${minute + 1} of ${minutes}: ${JSON.stringify(figures)}`);
      saveMinutes(runs, startedAt);
    }
  } finally {
    me.stop();
  }
  await kills.settled();
  await traffic.settled();
  context.progress('whole-soak: waiting for the last events');
  await untilTold(traffic);
  const figures = {
    ...(await counts(parts)),
    ...memoryGrowth(runs),
    kills: kills.backMs.length + kills.failures.length,
    killsNotBack: kills.failures.length,
    mostBackMs: Math.max(0, ...kills.backMs),
    redisKiBPerMessage: ((residentMiB(side.watch.redis) - redisMiB) * 1_024) / traffic.accepted,
  };
  for (const text of [...new Set([...kills.failures, ...traffic.refused])]) context.progress(text);
  runs.push({ side: WHOLE, round: 1, figures });
  saveMinutes(runs, startedAt);
}

async function minuteFigures(
  { side, traffic, webhook }: Soak,
  kills: SoakKills,
  me: SteadyCalls,
): Promise<Figures> {
  const accepts = traffic.takeAcceptMs();
  const { written, brought } = traffic.inbound;
  const [first, secondNode] = side.nodes as [LiveNode, LiveNode];
  return {
    acceptP50Ms: percentile(accepts, 0.5),
    acceptP99Ms: percentile(accepts, 0.99),
    acceptMostMs: percentile(accepts, 1),
    ...takeMeFigures(me),
    accepted: traffic.accepted,
    refused: traffic.refused.length,
    repeatedCalls: traffic.repeated,
    endsBrought: traffic.endsBrought,
    written,
    brought,
    eventRepeats: webhook.counts().repeats,
    ...(await memoryOf(first, 'first')),
    ...(await memoryOf(secondNode, 'second')),
    secondLife: kills.lives,
    redisMiB: residentMiB(side.watch.redis),
    simulatorMiB: residentMiB(side.watch.simulator),
    benchMiB: residentMiB(process.pid),
    loadAverage: loadAverage(),
  };
}

/** Reads the memory of a node. Returns nothing if the node does not run now. */
async function memoryOf(node: LiveNode, name: string): Promise<Figures> {
  try {
    const { mainHeapMiB, workerHeapMiB } = await heaps(node);
    return { [`${name}MiB`]: residentMiB(node.pid), [`${name}HeapMiB`]: mainHeapMiB + workerHeapMiB };
  } catch {
    return {};
  }
}

/** Waits for the events of all ends and of all inbound messages. If some do not come, the counts show it. */
async function untilTold(traffic: SoakTraffic): Promise<void> {
  const untilMs = performance.now() + TAIL_MS;
  const isTold = (): boolean =>
    traffic.endsBrought >= traffic.accepted && traffic.inbound.brought >= traffic.inbound.written;
  while (!isTold() && performance.now() < untilMs) await delay(LOOK_MS);
}

async function counts({ context, traffic, webhook }: Soak): Promise<Figures> {
  context.progress('whole-soak: reading the messages and the handsets');
  const outcomes = countOutcomes(await traffic.outcomes());
  const { written, brought, broughtTwice } = traffic.inbound;
  const { events, repeats } = webhook.counts();
  return {
    ...outcomes,
    refused: traffic.refused.length,
    repeatedCalls: traffic.repeated,
    inboundWritten: written,
    inboundLost: written - brought,
    inboundDoubled: broughtTwice,
    webhookEvents: events,
    webhookRepeats: repeats,
  };
}
