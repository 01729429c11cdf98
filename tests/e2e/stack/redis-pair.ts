import { Redis } from 'ioredis';
import { freePorts } from '../../testbed/free-ports.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { until } from '../../testbed/waiting.ts';

/** A master and its replica, each a separate process. The roles change with each failover. */
export interface RedisPair {
  readonly servers: readonly RedisServer[];
  master(): RedisServer;
  replica(): RedisServer;
  /** Changes the roles and loses nothing. Both servers keep every connection they have, as managed ones do. */
  changeRoles(): Promise<void>;
  /** Makes the replica a separate master. It never gets anything that the master acknowledges from here on. */
  part(): Promise<void>;
  /** Leaves the replica without a master. */
  strandReplica(): Promise<void>;
  /** The replica follows the master again; resolves when it has everything. */
  follow(): Promise<void>;
  /** Kills the master permanently. The replica, which `part` made a master, replaces it. */
  loseMaster(): Promise<void>;
  /** The lost master comes back as a replica of the other; what only it had is gone. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}

/** One Redis of the pair. */
interface Member {
  readonly server: RedisServer;
  readonly port: number;
}

/** Starts both and waits until the replica follows. */
export async function startRedisPair(): Promise<RedisPair> {
  const ports = await freePorts(2);
  const [first, secondMember] = await Promise.all(
    ports.map(async (port): Promise<Member> => {
      const extraArgs = ['--port', String(port), '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0'];
      return { port, server: await startRedisServer({ appendfsync: 'always', extraArgs }) };
    }),
  );
  if (first === undefined || secondMember === undefined) throw new Error('two ports make two servers');
  let [master, replica] = [first, secondMember];
  const swap = (): void => {
    [master, replica] = [replica, master];
  };
  const follow = async (): Promise<void> => {
    await ask(replica, (client) => client.replicaof('127.0.0.1', master.port));
    await until('the replica follows', () =>
      ask(replica, async (client) => (await client.info('replication')).includes('master_link_status:up')),
    );
    // The replica knows a moment before the master does, which fails over to one that is online alone.
    await until('the master knows', () =>
      ask(master, async (client) => /^slave0:.*state=online/m.test(await client.info('replication'))),
    );
  };
  await follow();
  return {
    servers: [first.server, secondMember.server],
    master: () => master.server,
    replica: () => replica.server,
    async changeRoles() {
      await ask(master, (client) => client.call('FAILOVER', 'TO', '127.0.0.1', replica.port));
      await until('the replica is the master', () => ask(replica, isMaster));
      await until('the master is a replica', async () => !(await ask(master, isMaster)));
      swap();
    },
    async part() {
      await ask(replica, (client) => client.replicaof('NO', 'ONE'));
    },
    async strandReplica() {
      await ask(replica, (client) => client.replicaof('127.0.0.1', 1));
    },
    follow,
    async loseMaster() {
      await master.server.kill();
      swap();
    },
    async rejoin() {
      await replica.server.restart();
      await follow();
    },
    async stop() {
      await Promise.all([master.server.stop(), replica.server.stop()]);
    },
  };
}

async function isMaster(client: Redis): Promise<boolean> {
  return (await client.info('replication')).includes('role:master');
}

/** Asks a server over a new connection. */
async function ask<Answer>(
  { server }: Member,
  question: (client: Redis) => Promise<Answer>,
): Promise<Answer> {
  const client = new Redis(server.socketPath);
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}
