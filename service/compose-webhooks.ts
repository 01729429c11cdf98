import type { EventOperations } from '../actors/events/event-operations.ts';
import { AddressGuard } from '../actors/outbound/address-guard.ts';
import { isLoopbackUrl } from '../actors/outbound/loopback-url.ts';
import { nameLookup } from '../actors/outbound/name-lookup.ts';
import type { InboundOperations } from '../actors/shops/inbound-operations.ts';
import type { ShopOperations } from '../actors/shops/shop-operations.ts';
import type { WebhookRecord } from '../actors/tenants/stored-webhooks/webhook-record.ts';
import type { WebhookOperations } from '../actors/webhooks/webhook-operations.ts';
import { WebhookPump } from '../actors/webhooks/webhook-pump.ts';
import { resealWebhook } from '../actors/webhooks/webhook-secrets.ts';
import { webhookService } from '../actors/webhooks/webhook-service.ts';
import type { Actors } from '../runtime/actors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { Store } from '../runtime/store.ts';
import { textCipher } from '../runtime/text-cipher.ts';
import type { ServiceEnvironment } from './environment.ts';

/** The limits of the requests to webhooks, and the keys that seal their secrets. */
export interface WebhookSettings {
  /** The first seals, all open. */
  readonly credentialsKeys: readonly Buffer[];
  /** True if endpoints may be on loopback and use http: for tests and a simulated network. */
  readonly allowLoopback: boolean;
  readonly deniedRanges: readonly string[];
  /** If empty, the system's. */
  readonly nameServers: readonly string[];
}

/**
 * Returns the environment's settings for webhooks: those of attachments. Loopback is allowed only with a simulated
 * network.
 */
export function webhookSettings(
  environment: Pick<ServiceEnvironment, 'credentialsKeys' | 'noiseRootKey' | 'media'>,
): WebhookSettings {
  const { credentialsKeys, noiseRootKey, media } = environment;
  return { credentialsKeys, allowLoopback: noiseRootKey !== undefined, ...media };
}

/** The webhooks of a node: the pump that sends to them, and the operations of their keepers. */
export interface Webhooks {
  readonly pump: WebhookPump;
  readonly operations: WebhookOperations;
  /** Returns an endpoint as it is to be stored under the keys of this node. */
  readonly reseal: (tenantId: string, webhook: WebhookRecord, nowMs: number) => WebhookRecord;
}

/** Composes the webhooks of a node. */
export function composeWebhooks(options: {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly shops: Pick<ShopOperations, 'message'>;
  readonly inbound: Pick<InboundOperations, 'eventOf'>;
  readonly events: EventOperations;
  readonly settings: WebhookSettings;
  readonly makeId: (nowMs: number) => string;
}): Webhooks {
  const { actors, store, clock, random, log, shops, inbound, events, settings, makeId } = options;
  const { allowLoopback, deniedRanges, nameServers } = settings;
  const guard = new AddressGuard({ allowLoopback, deniedRanges });
  const cipher = textCipher(settings.credentialsKeys, 'webhooks');
  const delivery = { guard, resolve: nameLookup(nameServers) };
  const sources = { actors, store, messages: shops, inbound };
  const pump = new WebhookPump({ ...sources, clock, random, log, cipher, delivery });
  const operations = webhookService({
    actors,
    store,
    clock,
    cipher,
    pump,
    events,
    guard,
    makeId,
    allowsHttp: (url) => allowLoopback && isLoopbackUrl(url),
  });
  return {
    pump,
    operations,
    reseal: (tenantId, webhook, nowMs) => resealWebhook(tenantId, webhook, { cipher, nowMs }),
  };
}
