import { ActorEventFeed } from '../actors/actor-event-feed.ts';
import { eventService } from '../actors/events/event-service.ts';
import type { SessionHost, SessionListener } from '../actors/sessions/session-host.ts';
import { KeyIndex } from '../actors/tenants/key-index.ts';
import { EventWaiters } from '../actors/tenants/stored-events/event-waiters.ts';
import type { HttpActors } from '../http/http-options.ts';
import type { LinkTopic } from '../runtime/node/link-topics.ts';
import { objectIdGenerator } from '../runtime/object-id.ts';
import { composeErasure, type ErasedLogs } from './compose-erasure.ts';
import { composeOperators, type OpenDirectory, openDirectory } from './compose-operators.ts';
import { type ComposedShops, composeShops, type ShopsOptions } from './compose-shops.ts';
import { composeTenants } from './compose-tenants.ts';
import { composeWebhooks, type WebhookSettings, type Webhooks } from './compose-webhooks.ts';

export interface ActorsOptions extends Omit<ShopsOptions, 'makeId' | 'feed' | 'announceEvents'>, ErasedLogs {
  readonly redisUrl: string;
  /** Carries operators' commands to actors of another node. */
  readonly operatorsLink: LinkTopic;
  readonly webhooks: WebhookSettings;
}

/** The actors of a node, as http/ uses them. */
export interface RunningActors extends Omit<HttpActors, 'webhooks'>, Pick<ComposedShops, 'counts'> {
  readonly webhooks: Webhooks;
  readonly host: SessionHost;
  /** The calls that wait for tenants' events. */
  readonly eventWaiters: EventWaiters;
  /** Ends all waits, for a channel to open and for events, present and future ones: this node is about to stop. */
  endWaits(): void;
  /** Repairs the operators' list of tenants in the background. Call it when the node has started. */
  repairDirectory(): void;
  /** Ends sessions, workers and connections. Call it when the node has given up its shards. */
  stop(): Promise<void>;
}

/**
 * Registers the behaviours of tenants and shops with a node that does not run yet, and wires what they act on. If it
 * rejects, nothing of them keeps running.
 */
export async function composeActors(options: ActorsOptions): Promise<RunningActors> {
  let directory: OpenDirectory | undefined;
  let host: SessionHost | undefined;
  const startHost = (listener: SessionListener): SessionHost => {
    host = options.startHost(listener);
    return host;
  };
  const stop = async (): Promise<void> => {
    await Promise.all([host?.stop(), options.qrImages.close(), directory?.close()]);
  };
  try {
    directory = await openDirectory(options);
    return wireActors({ ...options, startHost }, directory, stop);
  } catch (error) {
    // The failure of the start is more useful than that of the stop.
    await Promise.allSettled([stop()]);
    throw error;
  }
}

/** Wires the actors. `stop` ends what they use. */
function wireActors(
  options: ActorsOptions,
  { directory: operatorsDirectory, repair }: OpenDirectory,
  stop: () => Promise<void>,
): RunningActors {
  const { node, clock, random, log } = options;
  const { actors, store, deadLetters } = node;
  const makeId = objectIdGenerator(random);
  const feed = new ActorEventFeed(clock);
  const eventWaiters = new EventWaiters(clock);
  const shops = composeShops({
    ...options,
    makeId,
    feed,
    announceEvents(tenantId) {
      eventWaiters.publish(tenantId);
      webhooks.pump.wake(tenantId);
    },
  });
  const { inbound, host, poolSessions, counts } = shops;
  const events = eventService({ store, waiters: eventWaiters, messages: shops.service, inbound, log });
  const webhooks: Webhooks = composeWebhooks({
    actors,
    store,
    // Timers of webhooks wait for wall-clock times, and the wall clock may step.
    clock: node.steppedClock,
    random,
    log,
    shops: shops.service,
    inbound,
    events,
    settings: options.webhooks,
    makeId,
  });
  const keyIndex = new KeyIndex(store);
  const refreshDirectory = (tenantId: string): Promise<void> => operatorsDirectory.refresh(tenantId);
  const erasure = composeErasure({
    ...options,
    ...shops,
    actors,
    store,
    deadLetters,
    keyIndex,
    refreshDirectory,
  });
  const tenants = composeTenants({
    ...options,
    makeId,
    feed,
    eventWaiters,
    webhooks,
    poolSessions,
    erasure,
    refreshDirectory,
  });
  const operators = composeOperators({ ...options, keyIndex, operatorsDirectory, erasure, makeId, host });
  return {
    tenants: tenants.service,
    shops: shops.service,
    inbound,
    events,
    webhooks,
    operators: operators.service,
    ownNode: operators.ownNode,
    keys: keyIndex,
    feed,
    host,
    counts,
    eventWaiters,
    endWaits() {
      shops.waiters.close();
      eventWaiters.close();
    },
    repairDirectory: repair,
    async stop() {
      tenants.stop();
      await stop();
    },
  };
}
