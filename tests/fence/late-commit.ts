import { until } from '../testbed/waiting.ts';
import type { Breakage } from './broken-runtime.ts';
import type { Journal } from './journal.ts';
import { type JournalNode, type JournalWorld, startJournalWorld } from './journal-world.ts';

type Story = (world: JournalWorld) => Promise<void>;

/** The commits that arrive too late, by their names. */
export const LATE_COMMITS: readonly (readonly [name: string, story: Story])[] = [
  ['a commit that arrives after another node took the shard', commitAfterTakeOver],
  ['a commit that arrives after its connection was given up', commitAfterItsConnection],
];

/** Plays a story, with this runtime or a broken copy, and reads what it left behind. */
export async function journalOf(story: Story, breakage?: Breakage): Promise<Journal> {
  const world = await startJournalWorld(breakage);
  try {
    await story(world);
    return await world.end();
  } finally {
    await world.stop();
  }
}

/**
 * A node is paused with a commit on its line. The commit arrives when another node has taken the shard and written to
 * it, and the node goes on.
 */
async function commitAfterTakeOver(world: JournalWorld): Promise<void> {
  const pausedNode = await world.start('a');
  const otherNode = await world.start('b');
  await world.untilBalanced();
  const shard = await world.shardOf('a');
  await keepCommit(pausedNode, shard);
  pausedNode.signal('SIGSTOP');
  await world.untilOwned(shard, 'b');
  await world.untilAnswered(shard, { nodeId: otherNode.nodeId });
  await pausedNode.link.release();
  pausedNode.signal('SIGCONT');
  await world.untilTold(/^(unknown|refused|acknowledged) late-0/);
}

/**
 * A node gives up a connection that does not answer, finds out on a new one what holds, and goes on. The commit that
 * it sent on the old one arrives after that.
 */
async function commitAfterItsConnection(world: JournalWorld): Promise<void> {
  const node = await world.start('a');
  const shard = await world.shardOf('a');
  await keepCommit(node, shard);
  await world.untilTold(/^unknown late-0/);
  await world.untilAnswered(shard, { nodeId: node.nodeId });
  await node.link.release();
}

/** Holds the next commit of a shard on the link from the node to Redis. */
async function keepCommit(node: JournalNode, shard: number): Promise<void> {
  node.link.hold();
  await node.order({ type: 'ask', shard, id: 'late-0' });
  await until('the commit is on the line', async () => node.link.keeps('late-0'));
}
