import { Redis } from 'ioredis';
import { eventService } from '../../actors/events/event-service.ts';
import { AddressGuard } from '../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../actors/outbound/name-lookup.ts';
import { EventWaiters } from '../../actors/tenants/event-waiters.ts';
import type { HttpOptions, HttpSettings } from '../../http/http-options.ts';
import { createMetrics } from '../../http/metrics/metrics.ts';
import type { OperatorEvent, OperatorEventFeed } from '../../http/operator-events/operator-event.ts';
import type { Forwarder } from '../../http/owner/remote-owner.ts';
import { type RunningHttp, startHttp } from '../../http/start-http.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { Read, Store } from '../../runtime/store.ts';
import { closeKeptConnections } from '../kept-connections.ts';
import { startRedisServer } from '../redis-server.ts';
import { openTarget, type Target } from './conformance-target.ts';
import { FakeMemory } from './fake-account.ts';
import { fakeInbound as inbound } from './fake-inbound.ts';
import { fakeFleet, fakeOperators } from './fake-operators.ts';
import { fakeShops } from './fake-shops.ts';
import { fakeTenants } from './fake-tenants.ts';
import { fakeWebhooks } from './fake-webhooks.ts';

/** The operators' token of every test service. */
export const ADMIN_TOKEN = 'operator-token-of-the-tests';

/** A listening service over fakes, with a real Redis for its request log. */
export interface ServiceFixture extends RunningHttp {
  readonly memory: FakeMemory;
  readonly store: Pick<Store, 'read' | 'append'>;
  /** The calls that wait for the tenants' events. */
  readonly eventWaiters: EventWaiters;
  /** Every line logged, with its fields. */
  readonly lines: { readonly level: string; readonly fields: object; readonly message: string }[];
  emit(event: OperatorEvent): void;
  stop(): Promise<void>;
}

/** Options of a single test. */
interface FixtureOptions extends Partial<Omit<HttpOptions, 'settings'>> {
  readonly settings?: Partial<HttpSettings>;
}

/** A store on a test's own Redis: what `read` and `append` promise, nothing of shards. */
export function plainStore(redis: Redis): Pick<Store, 'read' | 'append'> {
  async function run(commands: readonly Read[]): Promise<unknown[]> {
    const pipeline = redis.pipeline();
    for (const [command, ...args] of commands) pipeline.call(command, ...(args as string[]));
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([failure, reply]) => {
      if (failure !== null) throw failure;
      return reply;
    });
  }
  return { read: run, append: run };
}

/** This node owns everything and there is no other. */
export const localForwarder: Forwarder = {
  ownerIsLocal: () => true,
  ownership: () => 'alone',
  ownerMayCome: () => true,
  forward: () => Promise.reject(new Error('there is no other node')),
  stillOwner: () => true,
  otherNodes: () => [],
  forwardToNode: () => Promise.reject(new Error('there is no other node')),
};

/** Starts a service on ports of the system's choice. */
export async function startService({ settings, ...overrides }: FixtureOptions = {}): Promise<ServiceFixture> {
  const server = await startRedisServer();
  const redis = new Redis(server.url);
  const store = plainStore(redis);
  const memory = new FakeMemory();
  const shops = fakeShops(memory);
  const eventWaiters = new EventWaiters(systemClock);
  const lines: ServiceFixture['lines'] = [];
  const listeners = new Set<(event: OperatorEvent) => void>();
  const feed: OperatorEventFeed = {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const running = await startHttp({
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
    tenants: fakeTenants(memory),
    shops,
    inbound,
    events: eventService({ store, waiters: eventWaiters, messages: shops, inbound }),
    operators: fakeOperators(memory),
    webhooks: fakeWebhooks(memory),
    fleet: fakeFleet(memory),
    keys: { tenantOfKey: (hash) => memory.tenantByHash.get(hash) },
    forwarder: localForwarder,
    store,
    files: {
      guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
      resolve: nameLookup([]),
      ca: undefined,
    },
    requestLog: { maxEntriesPerTenant: 100_000, maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 2 ** 28 },
    clock: systemClock,
    random: systemRandom,
    log: recordingLogger(lines),
    metrics: createMetrics(),
    feed,
    health: { ready: () => true },
    ...overrides,
  }).catch(async (failure: unknown) => {
    redis.disconnect();
    await server.stop();
    throw failure;
  });
  memory.forgetInLogs = async ({ tenantId, shopId }) => {
    if (tenantId !== undefined) await running.forgetTenant(tenantId);
    if (shopId !== undefined) await running.forgetId(shopId);
  };
  return {
    ...running,
    memory,
    store,
    eventWaiters,
    lines,
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    async stop() {
      closeKeptConnections();
      await running.close({ graceMs: 2_000 });
      redis.disconnect();
      await server.stop();
    },
  };
}

/** Returns the conformance suite's tools for a service over fakes. Its channels connect when they are asked twice. */
export function targetOf({ apiUrl, adminUrl, memory }: ServiceFixture): Promise<Target> {
  return openTarget({
    apiUrl,
    adminUrl,
    adminToken: ADMIN_TOKEN,
    plan: (operation, failure) => memory.next.set(operation, failure),
    async connect(key, shopId) {
      const url = `${apiUrl}/shops/${shopId}/channels/msgapp/connect`;
      const headers = { authorization: `Bearer ${key}` };
      for (const method of ['POST', 'GET']) await (await fetch(url, { method, headers })).text();
    },
  });
}

function recordingLogger(lines: ServiceFixture['lines']): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}
