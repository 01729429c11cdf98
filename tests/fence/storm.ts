import { MINUTE_MS } from '../../runtime/durations.ts';
import { pause, until } from '../testbed/waiting.ts';
import { type JournalNode, type JournalWorld, LEASE_MS } from './journal-world.ts';

const shards = [3, 40, 64, 77, 100, 120];

/** How long a storm lasts at most, however few commands are acknowledged. */
const LONGEST_MS = MINUTE_MS;

/**
 * Makes three nodes ask their actors without a pause. Each is disturbed at random moments, and Redis is killed once. It
 * lasts for a minimum time, and until a minimum number of commands were acknowledged, which takes longer on a busy
 * machine. All trouble is over when it resolves.
 */
export async function storm(
  world: JournalWorld,
  options: { readonly random: () => number; readonly forMs: number; readonly leastAcknowledged: number },
): Promise<void> {
  const { random, forMs, leastAcknowledged } = options;
  const nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => world.start(nodeId)));
  const startedMs = performance.now();
  const isOver = async (): Promise<boolean> => {
    const lastedMs = performance.now() - startedMs;
    if (lastedMs < forMs) return false;
    return lastedMs > LONGEST_MS || (await world.acknowledged()) > leastAcknowledged;
  };
  const troubles = nodes.map(async (node) => {
    while (!(await isOver())) {
      await node.order({ type: 'load', shards, width: 4 });
      await pause(random() * LEASE_MS);
      await disturb(node, random);
    }
    // While the clocks of all nodes are wrong, none owns a shard.
    await until('the node hears that it rests', () => node.order({ type: 'rest' }));
  });
  await pause(random() * forMs);
  await world.server.kill();
  await pause(random() * LEASE_MS);
  await world.server.restart();
  await Promise.all(troubles);
}

/** Waits until every shard has an owner that answers. */
export async function calm(world: JournalWorld): Promise<void> {
  for (const shard of shards) await world.untilAnswered(shard);
}

async function disturb(node: JournalNode, random: () => number): Promise<void> {
  const lastsMs = random() * 2 * LEASE_MS;
  const { link } = node;
  switch (Math.floor(random() * 8)) {
    case 0:
      await paused(node, lastsMs);
      break;
    case 1:
      // Its bytes arrive when it has been away.
      link.hold();
      await pause(random() * 50);
      await paused(node, lastsMs);
      await link.release();
      break;
    case 2:
      link.hold();
      await pause(lastsMs);
      await link.release();
      break;
    case 3:
      await node.order({ type: 'block', forMs: lastsMs });
      await pause(lastsMs);
      break;
    case 4:
      link.cut();
      await pause(lastsMs);
      link.mend();
      break;
    case 5:
      link.stall();
      await pause(lastsMs);
      link.mend();
      break;
    case 6:
      await node.order({ type: 'step wall clock', byMs: Math.round((random() - 0.5) * 120_000) });
      break;
    default:
      await node.restart();
  }
}

async function paused(node: JournalNode, forMs: number): Promise<void> {
  node.signal('SIGSTOP');
  await pause(forMs);
  node.signal('SIGCONT');
}
