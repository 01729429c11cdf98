import { Redis } from 'ioredis';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Random } from '../../runtime/random.ts';
import type { Fleet, FleetNode } from '../e2e/stack/fleet.ts';
import { pause, until } from '../testbed/waiting.ts';
import type { History } from './history.ts';

/** A fault that begins on a node, and what ends it. */
type Fault = (node: FleetNode, fleet: Fleet) => Promise<() => Promise<void>> | (() => Promise<void>);

/** How long a fault lasts at least and at most, in milliseconds: shorter and longer than the lease of five seconds. */
const LASTS_MS = { least: 500, most: 8_000 };
/** Between two faults of one kind of inflicting. */
const BETWEEN_MS = { least: 500, most: 6_000 };
/**
 * A node is back within this time after its fault. It is generous, because other faults and a busy machine delay it.
 */
const MENDED_MS = 5 * MINUTE_MS;
/** A slow Redis, within what a node waits for an answer. */
const SLOW_MS = 300;

const FAULTS = {
  async kill(node: FleetNode) {
    await node.end('SIGKILL');
    return () => startAgain(node);
  },
  async stop(node: FleetNode) {
    await node.end('SIGTERM');
    return () => startAgain(node);
  },
  freeze(node: FleetNode) {
    node.signal('SIGSTOP');
    return async () => node.signal('SIGCONT');
  },
  cut(node: FleetNode) {
    node.link?.cut();
    return async () => node.link?.mend();
  },
  stall(node: FleetNode) {
    node.link?.stall();
    return async () => node.link?.mend();
  },
  // One direction is lost: Redis' answers, or what the node says.
  deaf(node: FleetNode) {
    node.link?.muteAnswers();
    return async () => node.link?.mend();
  },
  mute(node: FleetNode) {
    node.link?.muteCommands();
    return async () => node.link?.mend();
  },
  slow(node: FleetNode) {
    node.link?.delay(SLOW_MS);
    return async () => node.link?.delay(0);
  },
  // Messages of other nodes are lost, late or doubled, while commits work.
  unheard(node: FleetNode) {
    node.link?.cutBus();
    return async () => node.link?.mend();
  },
  messagesLost: (node: FleetNode) => onBus(node, 'lost'),
  messagesTwice: (node: FleetNode) => onBus(node, 'doubled'),
  messagesLate: (node: FleetNode) => onBus(node, 'late'),
  // Five hours ahead; it owns nothing meanwhile.
  clock(node: FleetNode) {
    node.signal('SIGUSR2');
    return async () => node.signal('SIGUSR2');
  },
} satisfies Readonly<Record<string, Fault>>;

/** A fault of a node, or of Redis (`failover`, `busy`). */
export type FaultName = keyof typeof FAULTS | (typeof OF_REDIS)[number][0];

function onBus(node: FleetNode, fault: 'lost' | 'doubled' | 'late'): () => Promise<void> {
  node.link?.bus(fault);
  return async () => node.link?.bus('none');
}

/** Starts a node, again where it finds a Redis that fails over: what supervises it does so too. */
async function startAgain(node: FleetNode): Promise<void> {
  await until(
    `${node.nodeId} starts`,
    () =>
      node.start().then(
        () => true,
        () => false,
      ),
    { withinMs: MENDED_MS },
  );
}

/** Redis and its replica change roles; the addresses of all nodes follow a moment later, and nothing is lost. */
async function failOver(fleet: Fleet, random: Random): Promise<void> {
  const { pair } = fleet;
  if (pair === undefined) return;
  await pair.changeRoles();
  await pause(random() * 3_000);
  for (const { link } of fleet.nodes) link?.moveTo(pair.master().socketPath);
}

/** How long a script runs before Redis answers BUSY, in milliseconds. Until then Redis answers nothing. */
const BUSY_AFTER_MS = 100;

/** A script of somebody else keeps Redis busy for a while. */
async function keepBusy(fleet: Fleet, random: Random): Promise<void> {
  const { socketPath } = fleet.pair?.master() ?? {};
  if (socketPath === undefined) return;
  const [busy, otherRedis] = [new Redis(socketPath), new Redis(socketPath)];
  try {
    await otherRedis.config('SET', 'busy-reply-threshold', BUSY_AFTER_MS);
    const script = busy.eval('while true do end', 0).catch(() => undefined);
    await pause(300 + random() * 1_500);
    await until('the script ends', () =>
      otherRedis.call('SCRIPT', 'KILL').then(
        () => true,
        // It may not have begun.
        () => false,
      ),
    );
    await script;
  } finally {
    busy.disconnect();
    otherRedis.disconnect();
  }
}

/** Faults of Redis itself. An entry that is here twice happens twice as often. */
const OF_REDIS = [
  ['failover', failOver],
  ['failover', failOver],
  ['busy', keepBusy],
] as const;

/**
 * Inflicts faults on up to two nodes at once, and faults of Redis itself, until `signal` aborts. Resolves when every
 * fault has ended and the shards are spread. `only`: no others than these.
 */
export async function inflictFaults(
  fleet: Fleet,
  options: {
    readonly random: Random;
    readonly history: History;
    readonly signal: AbortSignal;
    readonly only?: readonly FaultName[] | undefined;
  },
): Promise<void> {
  const { random, history, signal, only } = options;
  const isWanted = ([name]: readonly [string, unknown]): boolean =>
    only === undefined || only.some((wantedName) => wantedName === name);
  const ofNodes = Object.entries<Fault>(FAULTS).filter(isWanted);
  const ofRedis = OF_REDIS.filter(isWanted);
  const busy = new Set<FleetNode>();
  const between = ({ least, most }: typeof LASTS_MS): number => least + random() * (most - least);

  async function one(): Promise<void> {
    await pause(between(BETWEEN_MS));
    const free = fleet.nodes.filter((node) => !busy.has(node));
    const node = free[Math.floor(random() * free.length)];
    if (node === undefined || signal.aborted) return;
    const [name, fault] = pickOne(ofNodes, random);
    busy.add(node);
    try {
      history.add({ kind: 'fault', name: `${name} ${node.nodeId}`, on: true });
      const end = await fault(node, fleet);
      await pause(between(LASTS_MS));
      await end();
      history.add({ kind: 'fault', name: `${name} ${node.nodeId}`, on: false });
      await until(`${node.nodeId} is ready`, () => isReady(node), { withinMs: MENDED_MS });
    } finally {
      busy.delete(node);
    }
  }
  async function repeat(act: () => Promise<void>): Promise<void> {
    while (!signal.aborted) await act();
  }
  await Promise.all([
    repeat(one),
    repeat(one),
    repeat(async () => {
      await pause(10_000 + random() * 20_000);
      if (signal.aborted || ofRedis.length === 0) return;
      const [name, act] = pickOne(ofRedis, random);
      history.add({ kind: 'fault', name, on: true });
      await act(fleet, random);
      history.add({ kind: 'fault', name, on: false });
    }),
  ]);
  await fleet.spread(MENDED_MS);
}

async function isReady(node: FleetNode): Promise<boolean> {
  const probe = await fetch(`${node.adminUrl()}/readyz`).catch(() => undefined);
  return probe?.status === 200;
}

/** Takes one of several. */
export function pickOne<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('there is nothing to pick');
  return item;
}
