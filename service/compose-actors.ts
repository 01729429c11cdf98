import { ActorEventFeed } from '../actors/actor-event-feed.ts';
import { eventService } from '../actors/events/event-service.ts';
import { openDirectoryConnection } from '../actors/operators/directory-connection.ts';
import { fleetService } from '../actors/operators/fleet-service.ts';
import { operatorService } from '../actors/operators/operator-service.ts';
import { OperatorsDirectory } from '../actors/operators/operators-directory.ts';
import type { EgressVault } from '../actors/sessions/egress-vault.ts';
import { gatheredEvents } from '../actors/sessions/gathered-events.ts';
import type { QrImages } from '../actors/sessions/main-thread/qr-image.ts';
import type { SessionHost, SessionListener } from '../actors/sessions/session-host.ts';
import { ChannelWaiters } from '../actors/shops/effects/channel-waiters.ts';
import { groupQuestions } from '../actors/shops/effects/group-questions.ts';
import { SharedNumbers } from '../actors/shops/effects/shared-numbers.ts';
import { sessionOf, shopEffects } from '../actors/shops/effects/shop-effects.ts';
import { tracedEffects } from '../actors/shops/effects/traced-effects.ts';
import { PACING_TIMES, type PacingTimes } from '../actors/shops/machines/pacing-times.ts';
import { readChannelStatuses } from '../actors/shops/operations/channel-view.ts';
import { inboundService } from '../actors/shops/operations/inbound-service.ts';
import { PairingLimits } from '../actors/shops/operations/pairing-limits.ts';
import { shopService } from '../actors/shops/operations/shop-service.ts';
import { PoolClient } from '../actors/shops/pool-link/pool-client.ts';
import { poolService } from '../actors/shops/pool-link/pool-service.ts';
import { PoolSessions } from '../actors/shops/pool-link/pool-sessions.ts';
import type { CountEffect } from '../actors/shops/protocol/shop-effect.ts';
import type { NumberVault } from '../actors/shops/records/number-vault.ts';
import { shopAddress } from '../actors/shops/records/shop-keys.ts';
import type { ShopReference } from '../actors/shops/shop-operations.ts';
import { shopBehaviour } from '../actors/shops/turns/shop-behaviour.ts';
import { StoredKeyDirectory } from '../actors/tenants/key-directory.ts';
import { tenantService } from '../actors/tenants/operations/tenant-service.ts';
import { UsageStorer } from '../actors/tenants/operations/usage-storer.ts';
import { EventWaiters } from '../actors/tenants/stored-events/event-waiters.ts';
import type { EventLimits } from '../actors/tenants/stored-events/tenant-event.ts';
import { tenantEffects } from '../actors/tenants/tenant-effects.ts';
import { tenantBehaviour } from '../actors/tenants/turns/tenant-behaviour.ts';
import type { HttpActors } from '../http/http-options.ts';
import { KeyLimits } from '../policy/limits/key-limits.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { rememberLast } from '../runtime/memoize.ts';
import type { LinkTopic } from '../runtime/node/link-topics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import { objectIdGenerator } from '../runtime/object-id.ts';
import { fromRandomBytes, type Random } from '../runtime/random.ts';
import type { Tracing } from '../runtime/tracing.ts';
import { composeErasure, type ErasedLogs } from './compose-erasure.ts';
import { composeWebhooks, type WebhookSettings, type Webhooks } from './compose-webhooks.ts';

/** The node, the ports and the settings from which the actors are composed. */
export interface ActorsOptions extends ErasedLogs {
  readonly node: RuntimeNode;
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Starts the sending component; its events go to the listener. */
  readonly startHost: (listener: SessionListener) => SessionHost;
  readonly qrImages: QrImages;
  /** Bounds of the gap between two sends of a shop; docs/contract.md, Enforced in the sending component. */
  readonly sendGap: PacingTimes['sendGap'];
  /** Carries requests about pool messages between shops of different nodes. */
  readonly poolLink: LinkTopic;
  /** Carries operators' commands to actors of another node. */
  readonly operatorsLink: LinkTopic;
  /** The platform's name, in the last line of a message that its pool sends. */
  readonly platformName: string;
  /** Makes digests of numbers and seals their archived data. */
  readonly vault: NumberVault;
  /** Seals the addresses of shops' proxies. */
  readonly egressVault: EgressVault;
  /** Makes spans of sends. If absent, nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly counting: (effect: CountEffect) => void;
  readonly webhooks: WebhookSettings;
  /** Retention of messages and idempotency keys (docs/contract.md, Retention). */
  readonly retentionMs: number;
  readonly eventLimits: EventLimits;
}

/** The actors of a node, as http/ uses them. */
export interface RunningActors extends Omit<HttpActors, 'webhooks'> {
  readonly webhooks: Webhooks;
  readonly host: SessionHost;
  /** Counters of this node since it started. */
  readonly counts: { readonly ledgersReplaced: number; readonly numbersShared: number };
  /** The calls that wait for tenants' events. */
  readonly eventWaiters: EventWaiters;
  /** Ends all waits, for a channel to open and for events, present and future ones: this node is about to stop. */
  endWaits(): void;
  /** Ends sessions, workers and connections. Call it when the node has given up its shards. */
  stop(): Promise<void>;
}

/** Registers the behaviours of tenants and shops with a node that does not run yet, and wires what they act on. */
export async function composeActors(options: ActorsOptions): Promise<RunningActors> {
  const { node, clock, random, log, qrImages, sendGap, poolLink, platformName, vault, egressVault } = options;
  const { retentionMs, counting, requestLog, audit } = options;
  const { actors, store, deadLetters } = node;
  const commonOptions = { actors, store, clock, random, log };
  const connection = await openDirectoryConnection(options);
  const operatorsDirectory = new OperatorsDirectory({ store, clock, connection: connection.connection, log });
  repairLater(operatorsDirectory, log);
  const directory = new StoredKeyDirectory(store);
  const feed = new ActorEventFeed(clock);
  const waiters = new ChannelWaiters(clock);
  const eventWaiters = new EventWaiters(clock);
  const counts = { ledgersReplaced: 0, numbersShared: 0 };
  const keyLimits = new KeyLimits();
  const usage = new UsageStorer({ actors, clock, keyLimits });
  const makeId = objectIdGenerator(random);
  const { host, pairing } = startHost(options);
  const poolSessions = new PoolSessions({ actors, store, log });
  const sharedNumbers = new SharedNumbers({ ...commonOptions, vault, feed, counts });
  const pool = new PoolClient({ ...commonOptions, link: poolLink, sessions: poolSessions, platformName });
  const askGroups = groupQuestions({ actors, clock, host, waiters });
  const times = { sendGap, ...PACING_TIMES };
  const connecting = { pairing, qrImage: (qr: string) => qrImages.render(qr), askGroups };
  const shops = shopService({ ...commonOptions, ...connecting, waiters, pool, host, times, retentionMs });
  const inbound = inboundService({ actors, store, vault, shops, host });
  const events = eventService({ store, waiters: eventWaiters, messages: shops, inbound });
  // Timers of webhooks wait for wall-clock times, and the wall clock may step.
  const webhookParts = { ...commonOptions, clock: node.steppedClock, settings: options.webhooks };
  const webhooks = composeWebhooks({ ...webhookParts, shops, inbound, events, makeId });
  const announceEvents = (tenantId: string): void => {
    eventWaiters.publish(tenantId);
    webhooks.pump.wake(tenantId);
  };
  const notifiedServices = { waiters, announceEvents, feed };
  const otherShops = { pool, poolSessions, sharedNumbers, send: shops.send };
  poolLink.serve(poolService({ actors, store }));
  const refreshDirectory = (tenantId: string): Promise<void> => operatorsDirectory.refresh(tenantId);
  const erasedFrom = {
    ...commonOptions,
    deadLetters,
    host,
    pool,
    poolSessions,
    sharedNumbers,
    vault,
    retentionMs,
  };
  const erasure = composeErasure({ ...erasedFrom, directory, refreshDirectory, requestLog, audit });
  const performTenant = tenantEffects({
    feed,
    eventWaiters,
    webhooks: webhooks.pump,
    erasure,
    refreshDirectory,
    notifyShop: (shop, notice) => actors.tell(shopAddress(shop), notice),
    poolMayHaveChanged: (tenantId) => poolSessions.tenantChanged(tenantId),
  });
  const performShop = shopEffects({ ...commonOptions, ...notifiedServices, ...otherShops, host, counting });
  const perform = { tenant: performTenant, shop: performShop };
  const behaviourParts = { keyLimits, makeId, times, host, webhooks, eventWaiters, counts };
  registerBehaviours(options, { ...behaviourParts, perform });
  const operatorParts = { directory, operatorsDirectory, erasure, makeId, host, egressVault };
  return {
    tenants: tenantService({
      ...commonOptions,
      keyLimits,
      usage,
      channelStatuses: (tenantId, shopIds) => readChannelStatuses(store, tenantId, shopIds),
    }),
    shops,
    inbound,
    events,
    webhooks,
    operators: operatorService({ ...commonOptions, ...operatorParts }),
    fleet: fleetService({ node, clock, host, directory: operatorsDirectory, link: options.operatorsLink }),
    keys: directory,
    feed,
    host,
    counts,
    eventWaiters,
    endWaits() {
      waiters.close();
      eventWaiters.close();
    },
    async stop() {
      usage.stop();
      await Promise.all([host.stop(), qrImages.close(), connection.close()]);
    },
  };
}

/** The parts that the behaviours of tenants and shops use. */
interface BehaviourParts {
  readonly keyLimits: KeyLimits;
  readonly makeId: ReturnType<typeof objectIdGenerator>;
  readonly times: PacingTimes;
  readonly host: SessionHost;
  readonly webhooks: ReturnType<typeof composeWebhooks>;
  readonly eventWaiters: EventWaiters;
  readonly counts: { ledgersReplaced: number };
  readonly perform: {
    readonly tenant: ReturnType<typeof tenantEffects>;
    readonly shop: ReturnType<typeof shopEffects>;
  };
}

function registerBehaviours(options: ActorsOptions, parts: BehaviourParts): void {
  const { node, random, log, platformName, vault, egressVault, retentionMs, eventLimits } = options;
  const { keyLimits, makeId, times, host, webhooks, eventWaiters, counts, perform } = parts;
  node.register(
    tenantBehaviour({
      keyLimits,
      makeId,
      retentionMs,
      perform: perform.tenant,
      leave({ id }, reason) {
        webhooks.pump.stop(id);
        // Its events no longer reach this node. If it was drained, calls that came since end too.
        if (reason === 'lost' || reason === 'released') eventWaiters.end(id);
      },
      reseal: webhooks.reseal,
    }),
  );
  node.register(
    shopBehaviour({
      random,
      makeId,
      makeWireId,
      platformName,
      vault,
      egressVault,
      times,
      eventLimits,
      retentionMs,
      perform: tracedEffects(perform.shop, options.tracing),
      leave: (address) => host.close(sessionOf(address)),
      hasWorker: () => host.isAvailable(),
      onLedgerReplaced: (shop) => reportLedger(shop, { counts, log }),
    }),
  );
}

/**
 * Starts the sending component. It passes sessions' reports on to shops, and refused pairings to the limits of pairing.
 */
function startHost({ node: { actors, steppedClock }, clock, startHost: start }: ActorsOptions): {
  readonly host: SessionHost;
  readonly pairing: PairingLimits;
} {
  const pairing = new PairingLimits(clock);
  const reportToShop = gatheredEvents(steppedClock, (shop, event) => actors.tell(shopAddress(shop), event));
  const host = start((shop, event) => {
    // No caller may wait for it any more.
    if (event.type === 'session.closed' && event.end === 'pairing_refused' && event.statusCode === 429)
      pairing.pause();
    reportToShop(shop, event);
  });
  return { host, pairing };
}

/** Repairs the directory in the background: missing entries appear as it runs. */
function repairLater(directory: OperatorsDirectory, log: Logger): void {
  directory
    .repair()
    .catch((error: unknown) => log.warn({ err: error }, 'the operators’ directory could not be repaired'));
}

function reportLedger(
  shop: ShopReference,
  { counts, log }: { readonly counts: { ledgersReplaced: number }; readonly log: Logger },
): void {
  counts.ledgersReplaced += 1;
  log.error(shop, 'what a shop had sent cannot be read: it counts as having used up its caps for a day');
}

const WIRE_ID_BYTES = 9;

/** Makes stanza ids in the form of the network's own web client. */
const makeWireId = fromRandomBytes(
  WIRE_ID_BYTES,
  (pool, index) => `3EB0${capitalHex(pool).slice(2 * index, 2 * (index + WIRE_ID_BYTES))}`,
);

/** The hex of the last pool of random bytes: each id is a slice of it. */
const capitalHex = rememberLast((pool: Buffer) => pool.toString('hex').toUpperCase());
