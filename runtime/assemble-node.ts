import { Awakening } from './awakening.ts';
import type { ArmedTimer } from './clock.ts';
import { DeadLetterBox } from './dead-letters.ts';
import type { Engine } from './engine.ts';
import { GroupCommit } from './group-commit.ts';
import { defaultLimits } from './limits.ts';
import { LocalActors } from './local-actors.ts';
import type { NodeOptions, RuntimeNode } from './node.ts';
import { RedisLink } from './node-link.ts';
import { NodeStore } from './node-store.ts';
import { runtimeCounters } from './observer.ts';
import { Ownership } from './ownership.ts';
import { type NodeView, nodeIdOf, type ShardView } from './ownership-view.ts';

/** Node ids stand in records and channels as one word. */
const nodeIdShape = /^[\w.-]{1,64}$/;

/**
 * Puts a node together over any engine and takes its lease. Tests and simulations give an engine and `afterTick` of
 * their own; everybody else calls `startNode`.
 */
export async function assembleNode(
  engine: Engine,
  options: Omit<NodeOptions, 'redisUrl'> & { readonly afterTick?: (callback: () => void) => void },
): Promise<RuntimeNode> {
  const { nodeId, clock, random, log, observer } = options;
  if (!nodeIdShape.test(nodeId))
    throw new Error('NODE_ID must be 1 to 64 letters, digits, dots, dashes or underscores');
  const afterTick = options.afterTick ?? ((callback) => void setImmediate(callback));
  const limits = { ...defaultLimits, ...options.limits };
  const counters = runtimeCounters();

  const ownership: Ownership = new Ownership({
    nodeId,
    engine,
    clock,
    random,
    limits,
    log,
    counters,
    afterTick,
    commits: () => commits,
    onClaimed: (shard) => awakening.add(shard),
    onIncarnation: (incarnation) => link.listen(incarnation),
    onSuperseded: () => void close().then(() => options.onLost?.('superseded')),
  });
  const commits = new GroupCommit({
    engine,
    clock,
    limits,
    log,
    counters,
    observer,
    afterTick,
    leaseHolds: () => ownership.lease.holds(),
    onFenced: (shard, actual) => ownership.fenced(shard, actual),
    onDoubt: (shard) => void ownership.settle(shard),
  });
  const shard = (number: number) => ownership.shard(number);
  const store = new NodeStore(engine, commits, shard);
  const deadLetters: DeadLetterBox = new DeadLetterBox({
    clock,
    random,
    limits,
    log,
    counters,
    store,
    commits,
    ask: (address, command) => actors.ask(address, command),
  });
  const actors = new LocalActors({
    nodeId,
    shard,
    shards: () => ownership.shards(),
    storeIsFull: () => ownership.memoryUse >= limits.memoryShare,
    surroundings: {
      clock,
      limits,
      log,
      counters,
      observer,
      store,
      commits,
      mayAct: (owned) => ownership.mayAct(owned),
      bury: (owned, address, command, cause) => deadLetters.bury(owned, address, command, cause),
    },
  });
  const awakening = new Awakening(clock, limits, (owned, text) => actors.awaken(owned, text));
  const { view } = ownership;
  const link = new RedisLink({
    engine,
    clock,
    counters,
    view,
    nodeId,
    onMissed: () => void ownership.look(),
  });

  let sweep: ArmedTimer | undefined;
  const sweepLater = (): void => {
    sweep = clock.after(limits.passivateEveryMs, () => {
      actors.passivateIdle();
      sweepLater();
    });
  };
  const close = async (): Promise<void> => {
    sweep?.cancel();
    link.close();
    await engine.close();
  };
  let stopping: Promise<void> | undefined;

  try {
    await ownership.begin();
  } catch (error) {
    ownership.lease.stop();
    await engine.close();
    throw error;
  }
  return {
    nodeId,
    actors,
    store,
    link,
    deadLetters,
    counters,
    get incarnation() {
      return ownership.incarnation;
    },
    register: (behaviour) => actors.register(behaviour),
    async run() {
      await ownership.run();
      sweepLater();
    },
    nodes: () =>
      view.nodes.map(
        ({ nodeId: id, incarnation }): NodeView => ({
          nodeId: id,
          incarnation,
          shards: view.records.filter((record) => record.owner === incarnation).length,
          self: incarnation === ownership.incarnation,
        }),
      ),
    shards: () =>
      view.records.map(
        ({ owner, epoch }, number): ShardView => ({
          shard: number,
          owner: owner === undefined ? undefined : { nodeId: nodeIdOf(owner), incarnation: owner },
          epoch,
          mine: shard(number) !== undefined,
        }),
      ),
    leaseMarginMs: () => ownership.lease.marginMs(),
    ready: () => ownership.lease.holds() && engine.available(),
    stop() {
      stopping ??= ownership.stop().then(close);
      return stopping;
    },
  };
}
