import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../runtime/clock.ts';
import type { RuntimeLimits } from '../../runtime/limits.ts';
import { type RuntimeNode, startNode } from '../../runtime/node/node.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import { deferred } from '../testbed/deferred.ts';
import { listening } from '../testbed/listening.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { type CounterHooks, counterBehaviour } from './counter-behaviour.ts';
import { TEST_CIPHERS } from './test-ciphers.ts';

/** A node of counters on a real Redis. */
export interface RedisNode {
  readonly node: RuntimeNode;
  readonly log: QuietLog;
  /** Resolves when the node was notified that another process has its name. */
  readonly lost: Promise<void>;
}

/** Starts a node and lets it claim its share. */
export async function redisNode(options: {
  readonly redisUrl: string;
  readonly nodeId?: string;
  readonly hooks?: CounterHooks;
  readonly limits?: Partial<RuntimeLimits>;
  readonly linkCipher?: TextCipher;
  readonly durability?: 'master' | 'replica';
  readonly shards?: number;
}): Promise<RedisNode> {
  const log = new QuietLog();
  const { promise: lost, resolve: lose } = deferred();
  const node = await startNode({
    redisUrl: options.redisUrl,
    nodeId: options.nodeId ?? 'a',
    clock: systemClock,
    random: systemRandom,
    log,
    limits: options.limits ?? {},
    ...TEST_CIPHERS,
    ...(options.linkCipher === undefined ? {} : { linkCipher: options.linkCipher }),
    durability: options.durability,
    shards: options.shards,
    onLost: () => lose(),
  });
  node.register(counterBehaviour(options.hooks));
  await node.run();
  return { node, log, lost };
}

/** A link to Redis that a test can cut and stall. */
export interface RedisProxy {
  readonly url: string;
  /** Ends all connections, and accepts new ones. */
  cut(): void;
  /** Passes requests on and holds back every answer. */
  holdAnswers(): void;
  /** Ends all connections, and refuses new ones until `mend`. */
  break(): void;
  mend(): void;
  stop(): Promise<void>;
}

/** A TCP proxy before a Redis socket. */
export async function redisProxy(socketPath: string): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  let isHolding = false;
  let isBroken = false;
  const server: Server = createServer((client) => {
    if (isBroken) {
      client.destroy();
      return;
    }
    const redis = createConnection(socketPath);
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('close', () => redis.destroy());
    redis.on('close', () => client.destroy());
    client.on('data', (bytes) => redis.write(bytes));
    redis.on('data', (bytes) => {
      if (!isHolding) client.write(bytes);
    });
  });
  const port = await listening(server);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    cut() {
      isHolding = false;
      cut();
    },
    holdAnswers() {
      isHolding = true;
    },
    break() {
      isBroken = true;
      cut();
    },
    mend() {
      isBroken = false;
    },
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
