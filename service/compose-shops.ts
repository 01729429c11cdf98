import type { ActorEventFeed } from '../actors/actor-event-feed.ts';
import type { EgressVault } from '../actors/sessions/egress-vault.ts';
import { gatheredEvents } from '../actors/sessions/gathered-events.ts';
import type { QrImages } from '../actors/sessions/main-thread/qr-image.ts';
import type { SessionHost, SessionListener } from '../actors/sessions/session-host.ts';
import { ChannelWaiters } from '../actors/shops/effects/channel-waiters.ts';
import { groupQuestions } from '../actors/shops/effects/group-questions.ts';
import { SharedNumbers } from '../actors/shops/effects/shared-numbers.ts';
import { sessionOf, shopEffects } from '../actors/shops/effects/shop-effects.ts';
import { tracedEffects } from '../actors/shops/effects/traced-effects.ts';
import type { InboundOperations } from '../actors/shops/inbound-operations.ts';
import { PACING_TIMES, type PacingTimes } from '../actors/shops/machines/pacing-times.ts';
import { inboundService } from '../actors/shops/operations/inbound-service.ts';
import { PairingLimits } from '../actors/shops/operations/pairing-limits.ts';
import { shopService } from '../actors/shops/operations/shop-service.ts';
import { PoolClient } from '../actors/shops/pool-link/pool-client.ts';
import { poolService } from '../actors/shops/pool-link/pool-service.ts';
import { PoolSessions } from '../actors/shops/pool-link/pool-sessions.ts';
import type { CountEffect } from '../actors/shops/protocol/shop-effect.ts';
import type { NumberVault } from '../actors/shops/records/number-vault.ts';
import { shopAddress } from '../actors/shops/records/shop-keys.ts';
import type { ShopOperations } from '../actors/shops/shop-operations.ts';
import { shopBehaviour } from '../actors/shops/turns/shop-behaviour.ts';
import type { EventLimits } from '../actors/tenants/stored-events/tenant-event.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { rememberLast } from '../runtime/memoize.ts';
import type { LinkTopic } from '../runtime/node/link-topics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import { fromRandomBytes, type Random } from '../runtime/random.ts';
import type { Tracing } from '../runtime/tracing.ts';

export interface ShopsOptions {
  readonly node: RuntimeNode;
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
  /** The platform's name, in the last line of a message that its pool sends. */
  readonly platformName: string;
  /** Makes digests of numbers and seals their archived data. */
  readonly vault: NumberVault;
  /** Seals the addresses of shops' proxies. */
  readonly egressVault: EgressVault;
  /** Makes spans of sends. If absent, nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly counting: (effect: CountEffect) => void;
  /** Retention of messages and idempotency keys (docs/contract.md, Retention). */
  readonly retentionMs: number;
  readonly eventLimits: EventLimits;
  readonly makeId: (nowMs: number) => string;
  readonly feed: ActorEventFeed;
  /** Wakes the callers that wait for a tenant's events, and its webhooks. */
  readonly announceEvents: (tenantId: string) => void;
}

/** The shops of a node: their services, and the parts that tenants, operators and erasures use too. */
export interface ComposedShops {
  readonly service: ShopOperations;
  readonly inbound: InboundOperations;
  readonly host: SessionHost;
  readonly waiters: ChannelWaiters;
  readonly poolClient: PoolClient;
  readonly poolSessions: PoolSessions;
  readonly sharedNumbers: SharedNumbers;
  /** Counters of this node since it started. */
  readonly counts: { readonly ledgersReplaced: number; readonly numbersShared: number };
}

/** Registers the behaviour of shops with a node that does not run yet, and wires what they act on. */
export function composeShops(options: ShopsOptions): ComposedShops {
  const { node, clock, random, log, poolLink, platformName, vault, egressVault, retentionMs } = options;
  const { makeId, feed, announceEvents, counting } = options;
  const { actors, store } = node;
  const commonOptions = { actors, store, clock, random, log };
  const { host, pairing } = reportingHost(options);
  const waiters = new ChannelWaiters(clock);
  const counts = { ledgersReplaced: 0, numbersShared: 0 };
  const poolSessions = new PoolSessions({ actors, store, log });
  const sharedNumbers = new SharedNumbers({ store, clock, vault, feed, log, counts });
  const poolClient = new PoolClient({
    ...commonOptions,
    link: poolLink,
    sessions: poolSessions,
    platformName,
  });
  poolLink.serve(poolService({ actors, store }));
  const times = { sendGap: options.sendGap, ...PACING_TIMES };
  const service = shopService({
    ...commonOptions,
    pairing,
    qrImage: (qr) => options.qrImages.render(qr),
    askGroups: groupQuestions({ actors, clock, host, waiters }),
    waiters,
    poolClient,
    host,
    times,
    retentionMs,
  });
  const perform = shopEffects({
    ...commonOptions,
    host,
    waiters,
    announceEvents,
    feed,
    poolClient,
    poolSessions,
    sharedNumbers,
    send: service.send,
    counting,
  });
  node.register(
    shopBehaviour({
      random,
      makeId,
      makeWireId,
      platformName,
      vault,
      egressVault,
      times,
      eventLimits: options.eventLimits,
      retentionMs,
      perform: tracedEffects(perform, options.tracing),
      leave: (address) => host.close(sessionOf(address)),
      hasWorker: () => host.isAvailable(),
      onLedgerReplaced(shop) {
        counts.ledgersReplaced += 1;
        log.error(
          shop,
          'what a shop had sent cannot be read: it counts as having used up its caps for a day',
        );
      },
      onUnreadable(shop, error) {
        const line = 'a stored message of a suspended shop could not be read';
        log.error({ ...shop, err: error }, line);
      },
    }),
  );
  const inbound = inboundService({ actors, store, clock, vault, shops: service, host });
  return { service, inbound, host, waiters, poolClient, poolSessions, sharedNumbers, counts };
}

/**
 * Starts the sending component. It passes sessions' reports on to shops, and refused pairings to the limits of pairing.
 */
function reportingHost({ node: { actors, steppedClock }, clock, startHost }: ShopsOptions): {
  readonly host: SessionHost;
  readonly pairing: PairingLimits;
} {
  const pairing = new PairingLimits(clock);
  const reportToShop = gatheredEvents(steppedClock, (shop, event) => actors.tell(shopAddress(shop), event));
  const host = startHost((shop, event) => {
    // The caller who asked for the code may be gone, so the limit is reported here.
    if (event.type === 'session.closed' && event.end === 'pairing_refused' && event.statusCode === 429)
      pairing.pause();
    reportToShop(shop, event);
  });
  return { host, pairing };
}

const WIRE_ID_BYTES = 9;

/** Makes stanza ids in the form of the network's own web client. */
const makeWireId = fromRandomBytes(
  WIRE_ID_BYTES,
  (pool, index) => `3EB0${capitalHex(pool).slice(2 * index, 2 * (index + WIRE_ID_BYTES))}`,
);

/** The hex of the last pool of random bytes: each id is a slice of it. */
const capitalHex = rememberLast((pool: Buffer) => pool.toString('hex').toUpperCase());
