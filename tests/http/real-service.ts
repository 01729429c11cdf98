import { credentialCiphers } from '../../actors/sessions/credential-cipher.ts';
import { egressVault } from '../../actors/sessions/egress-vault.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import { numberVault } from '../../actors/shops/state/number-vault.ts';
import { shopAddress, shopKeys } from '../../actors/shops/state/shop-keys.ts';
import { addressText, shardOf } from '../../runtime/address.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import type { RuntimeLimits } from '../../runtime/limits.ts';
import { linkTopics } from '../../runtime/node/link-topics.ts';
import { systemRandom as random } from '../../runtime/random.ts';
import { composeActors, type RunningActors } from '../../service/compose-actors.ts';
import { MemorySessionHost } from '../memory-network/memory-session-host.ts';
import { startRedisServer } from '../redis-server.ts';
import { type RedisNode, redisNode } from '../runtime/redis-node.ts';
import { type StartedParts, startParts } from '../started-parts.ts';
import { openTarget, type Target } from './conformance-target.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService } from './service-fixture.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Limits for tests of other subjects. A machine that is busy elsewhere for seconds refuses no call and loses no shard.
 */
const PATIENT: Partial<RuntimeLimits> = {
  leaseMs: 60_000,
  answerMs: 60_000,
  commitAgeMs: 60_000,
  mailboxAgeMs: 60_000,
};

/** Both listeners over the real actors and a real Redis, with the chat network in memory. */
export interface RealService extends Target {
  readonly runtime: RedisNode;
  readonly redisUrl: string;
  readonly actors: RunningActors;
  readonly network: MemorySessionHost;
  readonly fixture: ServiceFixture;
  /** Calls the operators' API. */
  operator(method: string, path: string, json?: unknown): ReturnType<Target['admin']['call']>;
  /** Makes what is stored of a shop unreadable, so that its actor crashes until it is suspended; answers how to mend it. */
  breakShop(shop: ShopReference): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/**
 * Starts the service. `limits` are those of its runtime. By default a second crash suspends an actor, and the service
 * waits long for Redis and for turns.
 */
export function startRealService(limits: Partial<RuntimeLimits> = {}): Promise<RealService> {
  return startParts((parts) => startReal(limits, parts));
}

async function startReal(limits: Partial<RuntimeLimits>, parts: StartedParts): Promise<RealService> {
  const redis = await startRedisServer();
  parts.add(() => redis.stop());
  const runtime = await redisNode({
    redisUrl: redis.url,
    limits: { ...PATIENT, restartIntensity: 1, backoffMs: 1, ...limits },
  });
  const { node, log } = runtime;
  let stopActors = async (): Promise<void> => undefined;
  parts.add(async () => {
    await node.stop();
    await stopActors();
  });
  const topic = linkTopics(node.link);
  const made: { network?: MemorySessionHost } = {};
  const actors = await composeActors({
    node,
    redisUrl: redis.url,
    clock,
    random,
    log,
    startHost: (listener) => {
      made.network = new MemorySessionHost({
        clock,
        listener,
        behaviour: { paired: true, pairedAgoMs: 30 * DAY_MS },
      });
      return made.network;
    },
    qrImages: { render: async () => 'data:image/png;base64,', close: async () => undefined },
    gap: { fromMs: 1, toMs: 2 },
    poolLink: topic('pool'),
    operatorsLink: topic('operators'),
    platformName: 'Market Square',
    vault: numberVault([Buffer.alloc(32, 1)]),
    egressVault: egressVault(credentialCiphers([Buffer.alloc(32, 1)])),
    logs: {
      forgetTenant: (id) => fixture.forgetTenant(id),
      forgetId: (id) => fixture.forgetId(id),
    },
    webhooks: {
      ...{ credentialsKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)], allowLoopback: true },
      ...{ deniedRanges: [], nameServers: [] },
    },
  });
  stopActors = () => actors.stop();
  const { network } = made;
  if (network === undefined) throw new Error('the actors started without their sending component');
  const { tenants, shops, operators, fleet, keys, events } = actors;
  const webhooks = actors.webhooks.operations;
  const fixture = await startService({ tenants, shops, events, operators, webhooks, fleet, keys });
  parts.add(() => fixture.stop());
  const { apiUrl, adminUrl } = fixture;
  const target = await openTarget({
    apiUrl,
    adminUrl,
    adminToken: ADMIN_TOKEN,
    connect: async () => undefined,
  });
  parts.add(() => target.close());
  const operator: RealService['operator'] = (method, path, json) =>
    target.admin.call(method, path, { key: ADMIN_TOKEN, json });
  return {
    ...target,
    redisUrl: redis.url,
    runtime,
    actors,
    network,
    fixture,
    operator,
    async breakShop(shop) {
      const shard = shardOf(shop.tenantId);
      const { shop: key } = shopKeys(shard, shop.shopId);
      const [stored] = (await node.store.read([['HGET', key, 'actor']])) as [string | null];
      await node.store.commit(shard, [['HSET', key, 'actor', '{']]);
      const address = shopAddress(shop);
      await node.actors.restart(address).catch(() => undefined);
      if (node.actors.snapshot(address)?.status !== 'suspended')
        throw new Error(`${addressText(address)} still runs`);
      return () =>
        node.store.commit(shard, [stored === null ? ['HDEL', key, 'actor'] : ['HSET', key, 'actor', stored]]);
    },
    stop: () => parts.stop(),
  };
}
