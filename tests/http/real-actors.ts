import { credentialCiphers } from '../../actors/sessions/credential-cipher.ts';
import { egressVault } from '../../actors/sessions/egress-vault.ts';
import { numberVault } from '../../actors/shops/records/number-vault.ts';
import { AuditLog } from '../../http/audit-log/audit-log.ts';
import { RequestLog } from '../../http/request-log/request-log.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../runtime/durations.ts';
import type { RuntimeLimits } from '../../runtime/limits.ts';
import { linkTopics } from '../../runtime/node/link-topics.ts';
import { systemRandom as random } from '../../runtime/random.ts';
import { composeActors, type RunningActors } from '../../service/compose-actors.ts';
import { type RedisNode, redisNode } from '../runtime/redis-node.ts';
import { EVENT_LIMITS } from '../testbed/event-limits.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import type { StartedParts } from '../testbed/started-parts.ts';

/**
 * Limits for tests of other subjects. A machine that is busy elsewhere for seconds refuses no call and loses no shard.
 * A second crash suspends an actor.
 */
const PATIENT: Partial<RuntimeLimits> = {
  leaseMs: MINUTE_MS,
  answerMs: MINUTE_MS,
  commitAgeMs: MINUTE_MS,
  mailboxAgeMs: MINUTE_MS,
  restartIntensity: 1,
  backoffMs: 1,
};

/** The actors of a node on a Redis of its own, with the chat network in memory. */
export interface RealActors {
  readonly redisUrl: string;
  readonly runtime: RedisNode;
  readonly actors: RunningActors;
  readonly logs: { readonly requestLog: RequestLog; readonly audit: AuditLog };
  readonly network: MemorySessionHost;
}

/** Starts the actors as one of the parts. */
export async function startRealActors(
  parts: StartedParts,
  limits: Partial<RuntimeLimits>,
): Promise<RealActors> {
  const redis = await startRedisServer();
  parts.add(() => redis.stop());
  const runtime = await redisNode({ redisUrl: redis.url, limits: { ...PATIENT, ...limits } });
  const { node, log } = runtime;
  let stopActors = async (): Promise<void> => undefined;
  parts.add(async () => {
    await node.stop();
    await stopActors();
  });
  const { store } = node;
  const requestLogLimits = { maxEntriesPerTenant: 100_000, maxAgeMs: 7 * DAY_MS, maxBytes: 2 ** 28 };
  const logs = {
    requestLog: new RequestLog({ store, clock, log, limits: requestLogLimits }),
    audit: new AuditLog({ store, clock, random, maxAgeMs: 7 * DAY_MS }),
  };
  const topic = linkTopics(node.link);
  const made: { network?: MemorySessionHost } = {};
  const actors = await composeActors({
    node,
    redisUrl: redis.url,
    clock,
    random,
    log,
    ...logs,
    startHost: (listener) => {
      const behaviour = { paired: true, pairedAgoMs: 30 * DAY_MS };
      made.network = new MemorySessionHost({ clock, listener, behaviour });
      return made.network;
    },
    qrImages: { render: async () => 'data:image/png;base64,', close: async () => undefined },
    sendGap: { minMs: 1, maxMs: 2 },
    poolLink: topic('pool'),
    operatorsLink: topic('operators'),
    platformName: 'Market Square',
    vault: numberVault([Buffer.alloc(32, 1)]),
    egressVault: egressVault(credentialCiphers([Buffer.alloc(32, 1)])),
    counting: () => undefined,
    retentionMs: 30 * DAY_MS,
    eventLimits: EVENT_LIMITS,
    webhooks: {
      credentialsKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
      allowLoopback: true,
      deniedRanges: [],
      nameServers: [],
    },
  });
  stopActors = () => actors.stop();
  const { network } = made;
  if (network === undefined) throw new Error('the actors started without their sending component');
  return { redisUrl: redis.url, runtime, actors, logs, network };
}
