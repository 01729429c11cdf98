import { messageOf } from '../../runtime/described-error.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { allConnected, type ChaosShop, openShops } from './chaos-shops.ts';
import { type Fault, type Figures, runFault } from './scenario.ts';

const SHOPS = 6;
const MESSAGES_PER_SHOP = 2;
/** A young number may send ten an hour. */
const KILLS_PER_SET_OF_SHOPS = 4;
const TRAFFIC_MS = 3_000;

/** SIGKILL of any node, at a moment of the sends that the run picks; then it comes back. */
const killAnyNode: Fault = {
  name: 'SIGKILL',
  async inflict({ fleet, shops, random }) {
    const node = fleet.nodes[Math.floor(random() * fleet.nodes.length)];
    if (node === undefined) throw new Error('a fleet has nodes');
    const killedMs = performance.now();
    await node.end('SIGKILL');
    await fleet.spread();
    await allConnected(shops);
    const recoveredMs = performance.now() - killedMs;
    await node.start();
    await fleet.spread();
    return { recoveredMs, note: node.nodeId };
  },
};

/** The figures of a series of kills. */
export interface KillFigures {
  readonly kills: number;
  readonly accepted: number;
  readonly sent: number;
  readonly uncertain: number;
  readonly lost: number;
  readonly doubled: number;
  /** The longest time from a kill until every session was back. */
  readonly worstMs: number;
  /** Kills after which a promise did not hold, and which. */
  readonly failures: readonly string[];
}

/** Kills a node this number of times, one after the other, each while shops send and callers read. */
export async function killOften(
  fleet: Fleet,
  options: {
    readonly kills: number;
    readonly random: () => number;
    readonly say: (line: string) => void;
  },
): Promise<KillFigures> {
  const { kills, random, say } = options;
  const allFigures: Figures[] = [];
  const failures: string[] = [];
  let shops: readonly ChaosShop[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    if (kill % KILLS_PER_SET_OF_SHOPS === 0) shops = await openShops(fleet, SHOPS);
    const run = {
      fleet,
      random,
      shops,
      messagesPerShop: MESSAGES_PER_SHOP,
      trafficMs: TRAFFIC_MS,
      timeout: 1,
    };
    try {
      const figures = await runFault(run, killAnyNode);
      allFigures.push(figures);
      say(`kill ${kill + 1} (${figures.note}): all sessions back after ${figures.recoveredMs} ms`);
    } catch (error) {
      const reason = `kill ${kill + 1}: ${messageOf(error)}`;
      failures.push(reason);
      say(`FAILED: ${reason}`);
      shops = await openShops(fleet, SHOPS);
    }
  }
  const sum = (figureOf: (figures: Figures) => number): number =>
    allFigures.reduce((total, figures) => total + figureOf(figures), 0);
  return {
    kills,
    accepted: sum(({ accepted }) => accepted),
    sent: sum(({ sent }) => sent),
    uncertain: sum(({ uncertain }) => uncertain),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    worstMs: Math.max(0, ...allFigures.map(({ recoveredMs }) => recoveredMs)),
    failures,
  };
}
