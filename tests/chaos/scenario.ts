import assert from 'node:assert/strict';
import { type FeedReader, sawEachEndOnce, startReader, startStream } from '../e2e/stack/feed-readers.ts';
import type { Fleet, FleetNode } from '../e2e/stack/fleet.ts';
import { pause } from '../testbed/waiting.ts';
import { allConnected, type ChaosShop } from './chaos-shops.ts';
import { type MessageEnd, type Outcomes, startTraffic, type TimeSpan } from './traffic.ts';

/** The target of a fault, and the amount of traffic meanwhile. */
export interface Run {
  readonly fleet: Fleet;
  readonly random: () => number;
  /** The connected shops that send, and whose events are read. */
  readonly shops: readonly ChaosShop[];
  readonly messagesPerShop: number;
  /** Messages are spread over this time. The fault begins in its second quarter, and its duration is added. */
  readonly trafficMs: number;
  /** Bounds of the contract are multiplied by it: 1 on a machine of one's own, more beside other tests. */
  readonly timeout: number;
}

/** A fault under shops that send and callers that read. */
export interface Fault {
  readonly name: string;
  /**
   * Inflicts it and waits until all is well again. Resolves with the milliseconds from the fault until then, and a
   * remark.
   */
  inflict(run: Run): Promise<{
    readonly recoveredMs: number;
    readonly note?: string;
    /** Redis forgot what it acknowledged in that time. */
    readonly lostByRedis?: TimeSpan;
  }>;
}

/** One line of the table. */
export interface Figures extends Omit<Outcomes, 'others'> {
  readonly fault: string;
  readonly recoveredMs: number;
  readonly requests: number;
  readonly retries: number;
  readonly note: string;
}

/**
 * Inflicts a fault under traffic and checks every message. Each accepted one ends, and is on a handset once, or at most
 * once if it failed `BOT_RESTARTED`. No caller that asks again stays unanswered. Two readers of each tenant's events,
 * one by polls and one by a stream, see each end once.
 */
export async function runFault(run: Run, fault: Fault): Promise<Figures> {
  const { fleet, random, shops, messagesPerShop, trafficMs } = run;
  await allConnected(shops);
  const readers = await Promise.all(shops.map(followShop));
  const before = { ...fleet.counters };
  const traffic = startTraffic(fleet, shops, { random, messagesPerShop, overMs: trafficMs });
  await pause((trafficMs / 4) * (1 + random()));
  const { recoveredMs, note = '', lostByRedis } = await fault.inflict(run);
  const { others, ends, ...outcomes } = await traffic.outcomes(lostByRedis);
  const { requests, retries } = fleet.counters;
  const figures: Figures = {
    fault: fault.name,
    recoveredMs: Math.round(recoveredMs),
    requests: requests - before.requests,
    retries: retries - before.retries,
    ...outcomes,
    note,
  };
  assert.deepEqual(others, [], `${fault.name}: messages ended for no reason`);
  assert.deepEqual([figures.lost, figures.doubled], [0, 0], `${fault.name}: lost, doubled`);
  // Its readers may have seen events that Redis lost.
  if (lostByRedis !== undefined) await Promise.allSettled(readers.flat().map(({ stop }) => stop()));
  else await Promise.all(shops.map((shop, index) => sawEnds(readers[index] ?? [], shop, ends)));
  return figures;
}

/**
 * How long a poll waits for events. A reader stops with the answer to its last one, and by then nothing more happens.
 */
const READ_WAIT_MS = 1_000;

/** Reads a shop's tenant's events from now on. */
async function followShop({ api }: ChaosShop): Promise<readonly FeedReader[]> {
  const from = String((await api.get('/events')).data.nextCursor);
  return [startReader(api, { from, waitMs: READ_WAIT_MS }), startStream(api, from)];
}

async function sawEnds(
  readers: readonly FeedReader[],
  { id: ofShop }: ChaosShop,
  ends: readonly MessageEnd[],
): Promise<void> {
  const ownEnds = ends.filter(({ shopId }) => shopId === ofShop);
  const types = new Map(ownEnds.map(({ id, status }) => [id, `message.${status}`]));
  for (const reader of readers) await sawEachEndOnce(reader, types);
}

/** Fails when something took longer than the contract allows. */
export function within(run: Run, boundMs: number, title: string, tookMs: number): void {
  const limitMs = boundMs * run.timeout;
  assert.ok(tookMs < limitMs, `${title} took ${Math.round(tookMs)} ms; the bound is ${limitMs} ms`);
}

/** The id of the node on which a shop lives. */
export async function homeOf(fleet: Fleet, { tenantId, id }: ChaosShop): Promise<string> {
  const { data } = await fleet.admin.get(`/actors/${tenantId}/${id}`);
  return (data.owner as { readonly nodeId: string }).nodeId;
}

/** The node on which the first shop lives, how many of the shops live there, and another node that runs. */
export async function homeOfFirst({
  fleet,
  shops,
}: Run): Promise<{ readonly node: FleetNode; readonly other: FleetNode; readonly shops: number }> {
  const homes = await Promise.all(shops.map((shop) => homeOf(fleet, shop)));
  const [home = ''] = homes;
  const node = fleet.nodes.find(({ nodeId }) => nodeId === home);
  const otherNode = fleet.nodes.find((each) => each !== node && each.runs());
  assert.ok(node !== undefined && otherNode !== undefined, `${home} has shops and is no node`);
  return { node, other: otherNode, shops: homes.filter((each) => each === home).length };
}
