import type { Actors } from './actors.ts';
import { assembleNode } from './assemble-node.ts';
import type { Behaviour } from './behaviour.ts';
import type { Clock } from './clock.ts';
import type { DeadLetters } from './dead-letters.ts';
import { defaultLimits, type RuntimeLimits } from './limits.ts';
import type { Logger } from './logger.ts';
import type { NodeLink } from './node-link.ts';
import type { RuntimeCounters, RuntimeObserver } from './observer.ts';
import type { NodeView, ShardView } from './ownership-view.ts';
import type { Random } from './random.ts';
import { RedisEngine } from './redis-engine.ts';
import type { Store } from './store.ts';

/** What a node is started with. */
export interface NodeOptions {
  /** See `parseRedisAddress`. */
  readonly redisUrl: string;
  /** Its name among the nodes. A process that starts under a name supersedes the one that had it. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly limits?: Partial<RuntimeLimits>;
  readonly observer?: RuntimeObserver;
  /**
   * Another process runs under this node id: all actors were stopped, exit. (A lease that merely expired heals by
   * itself: the node comes back under a new incarnation and keeps the actors whose shards nobody took.)
   */
  readonly onLost?: (reason: 'superseded') => void;
}

/** A node of the runtime. */
export interface RuntimeNode {
  readonly nodeId: string;
  /** This life of the node; another one after a lost lease. */
  readonly incarnation: string;
  readonly actors: Actors;
  readonly store: Store;
  readonly link: NodeLink;
  readonly deadLetters: DeadLetters;
  readonly counters: Readonly<RuntimeCounters>;
  /** Makes a kind of actor known; before `run`. */
  register<State, Command, Effect, Facts>(behaviour: Behaviour<State, Command, Effect, Facts>): void;
  /** Claims this node's share. Resolves after the first round: alone it then owns every shard. */
  run(): Promise<void>;
  nodes(): readonly NodeView[];
  shards(): readonly ShardView[];
  /** How long the lease still holds, in milliseconds; 0 when it does not. */
  leaseMarginMs(): number;
  /** The lease holds and Redis answers. */
  ready(): boolean;
  /** Hands every shard over, within about `settleMs` and `answerMs`, then ends the lease and the connections. */
  stop(): Promise<void>;
}

/** Connects and takes the lease. Rejects when Redis is not there or older than 7. Owns nothing until `run`. */
export async function startNode(options: NodeOptions): Promise<RuntimeNode> {
  const { answerMs } = { ...defaultLimits, ...options.limits };
  const engine = await RedisEngine.connect(options.redisUrl, { log: options.log, answerMs });
  return await assembleNode(engine, options);
}
