import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { AddressGuard } from '../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../actors/outbound/name-lookup.ts';
import type { EventWaiters } from '../../actors/tenants/stored-events/event-waiters.ts';
import type { HttpOptions, HttpSettings } from '../../http/http-options.ts';
import { makeMetrics } from '../../http/metrics/metrics.ts';
import type { OperatorEvent, OperatorEventFeed } from '../../http/operator-events/operator-event.ts';
import type { Forwarder } from '../../http/owner/forwarder.ts';
import { type RunningHttp, startHttp } from '../../http/start-http.ts';
import { shardOf } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { RuntimeLimits } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/logger.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { RedisCommand, Store } from '../../runtime/store.ts';
import { closeKeptConnections } from '../testbed/kept-connections.ts';
import type { WrittenMessage } from '../testbed/memory-network/memory-behaviour.ts';
import { type StartedParts, startParts } from '../testbed/started-parts.ts';
import { eventually } from '../testbed/waiting.ts';
import { type RealActors, startRealActors } from './real-actors.ts';
import { SteeredCalls } from './steered-calls.ts';
import { openTarget, type Target } from './target.ts';

/** A picture from a person, without its file. */
const PICTURE: WrittenMessage = {
  from: '+33722220077',
  text: '',
  content: { kind: 'image', text: null, name: null, quotes: null, media: null },
};

/** The operators' token of every test service. */
export const ADMIN_TOKEN = 'operator-token-of-the-tests';

/** Both listeners over the real actors, with the chat network in memory. */
export interface ServiceFixture extends RunningHttp, RealActors {
  /** The listeners' calls to the operations of tenants, shops, operators and webhooks. */
  readonly calls: SteeredCalls;
  readonly store: Pick<Store, 'read' | 'append'>;
  /** The calls that wait for the tenants' events. */
  readonly eventWaiters: EventWaiters;
  /** Every line that the listeners logged, with its fields. */
  readonly lines: { readonly level: string; readonly fields: object; readonly message: string }[];
  /** Notifies operators of an event, as if it had happened. */
  emit(event: OperatorEvent): void;
  stop(): Promise<void>;
}

export interface FixtureOptions extends Partial<Omit<HttpOptions, 'settings'>> {
  readonly settings?: Partial<HttpSettings>;
  /** Limits of the runtime. */
  readonly limits?: Partial<RuntimeLimits>;
}

/** A store on a test's own Redis, where every shard is this node's. */
export function plainStore(redis: Redis): Pick<Store, 'read' | 'readConfirmed' | 'append' | 'commit'> {
  async function run(commands: readonly RedisCommand[]): Promise<unknown[]> {
    const pipeline = redis.pipeline();
    for (const [command, ...args] of commands) pipeline.call(command, ...(args as string[]));
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([failure, reply]) => {
      if (failure !== null) throw failure;
      return reply;
    });
  }
  return {
    read: run as Store['read'],
    readConfirmed: run as Store['read'],
    append: run,
    commit: async (_shard, writes) => void (await run(writes)),
  };
}

/** This node owns everything and there is no other. */
export const localForwarder: Forwarder = {
  ownerIsLocal: () => true,
  ownership: () => 'alone',
  ownerMayCome: () => true,
  forward: () => Promise.reject(new Error('there is no other node')),
  otherNodes: () => [],
  forwardToNode: () => Promise.reject(new Error('there is no other node')),
};

/** Starts a service on ports of the system's choice. */
export function startService(options: FixtureOptions = {}): Promise<ServiceFixture> {
  return startParts((parts) => startAll(parts, options));
}

async function startAll(
  parts: StartedParts,
  { settings, limits = {}, ...overrides }: FixtureOptions,
): Promise<ServiceFixture> {
  const real = await startRealActors(parts, limits);
  const { actors, logs, runtime } = real;
  const { store } = runtime.node;
  const calls = new SteeredCalls();
  const lines: ServiceFixture['lines'] = [];
  const listeners = new Set<(event: OperatorEvent) => void>();
  const feed: OperatorEventFeed = {
    subscribe(listener) {
      listeners.add(listener);
      const end = actors.feed.subscribe(listener);
      return () => {
        listeners.delete(listener);
        end();
      };
    },
  };
  const runningHttp = await startHttp({
    settings: {
      host: '127.0.0.1',
      port: 0,
      adminHost: '127.0.0.1',
      adminPort: 0,
      operatorTokens: [{ name: 'admin', role: 'admin', token: ADMIN_TOKEN }],
      trustedProxies: [],
      publicUrl: undefined,
      setupUrlTemplate: '{PUBLIC_URL}/shops/{shopId}/edit',
      sendGap: { minMs: 6_000, maxMs: 20_000 },
      messageRetentionDays: 30,
      eventRetentionDays: 7,
      eventMaxEntries: 50_000,
      platformName: 'Tenant Messaging',
      ...settings,
    },
    version: 'test',
    ...actors,
    tenants: calls.over(actors.tenants),
    shops: calls.over(actors.shops),
    operators: calls.over(actors.operators),
    webhooks: calls.over(actors.webhooks.operations),
    forwarder: localForwarder,
    store,
    files: {
      guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
      resolve: nameLookup([]),
      ca: undefined,
    },
    ...logs,
    clock: systemClock,
    random: systemRandom,
    log: recordingLogger(lines),
    metrics: makeMetrics(),
    feed,
    health: { isReady: () => true },
    isBusy: () => false,
    ...overrides,
  });
  parts.add(async () => {
    closeKeptConnections();
    await runningHttp.close({ graceMs: 2_000 });
    await logs.requestLog.close();
  });
  return {
    ...runningHttp,
    ...real,
    calls,
    store,
    eventWaiters: actors.eventWaiters,
    lines,
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    stop: () => parts.stop(),
  };
}

/** Returns the conformance suite's tools for a service. */
export function targetOf({ apiUrl, adminUrl, calls, network }: ServiceFixture): Promise<Target> {
  return openTarget({
    apiUrl,
    adminUrl,
    adminToken: ADMIN_TOKEN,
    plan: (operation, failure) => calls.fail(operation, failure),
    async connect(key, shopId) {
      const url = `${apiUrl}/shops/${shopId}/channels/msgapp/connect`;
      const headers = { authorization: `Bearer ${key}` };
      await (await fetch(url, { method: 'POST', headers })).text();
      await eventually(async () => (await (await fetch(url, { headers })).text()).includes('"connected"'));
    },
    keepsFiles: false,
    async write({ id: tenantId }, shopId) {
      const session = { shard: shardOf(tenantId), tenantId, shopId };
      assert.ok(await network.inbound(session, PICTURE));
    },
  });
}

function recordingLogger(lines: ServiceFixture['lines']): Logger {
  const logAt = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
  };
}
