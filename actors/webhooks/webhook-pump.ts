import type { Actors } from '../../runtime/actors.ts';
import { FairSlots } from '../../runtime/fair-slots.ts';
import { movedAwayFailure, RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import { eventView } from '../events/event-service.ts';
import type { InboundOperations } from '../shops/inbound-operations.ts';
import type { ShopOperations } from '../shops/shop-operations.ts';
import { askTenant } from '../tenants/ask-tenant.ts';
import { cursorOf } from '../tenants/stored-events/event-cursor.ts';
import { readProgress } from '../tenants/stored-webhooks/webhook-progress.ts';
import type { WebhookEnd, WebhookRecord } from '../tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import { type DeliveryOptions, type DeliveryResult, deliver } from './deliver.ts';
import { SLOW_MS } from './endpoint-attempts.ts';
import { EndpointPump } from './endpoint-pump.ts';
import type { EndpointPace, EndpointPumpOptions, SentEvent } from './endpoint-pump-options.ts';
import type { ReplayedEvent } from './progress.ts';
import { type EventStore, readAfter, readAt } from './read-events.ts';
import { openedSecret, secretsAt, secretUse } from './webhook-secrets.ts';

/**
 * Deliveries of this node at a time: each is a connection for up to 15 s. A tenant has 16 slots for quick endpoints, 16
 * for slow ones, 16 for those whose speed is unknown, and 16 for tests. An attempt that takes longer than a second
 * moves to the slow ones, which may be 64 then. So endpoints that fail together delay the tenant's others for that
 * second only, until 64 are slow. The slow endpoints of all tenants have at most half of the connections, so the rest
 * is for quick ones.
 */
const SLOTS = {
  all: 1_024,
  share: 16,
  moved: 64,
  group: 512,
  isOfGroup: (name: string): boolean => name.endsWith(' slow' satisfies ` ${EndpointPace}`),
};
/** How long a test of an endpoint waits for a slot, in milliseconds (docs/contract.md, Webhooks). */
const TEST_SLOT_WAIT_MS = 2_000;
/** The result if no configured key opens an endpoint's secret, so that nothing can be signed. */
const SECRET_UNREADABLE: DeliveryResult = {
  status: null,
  holdMs: null,
  error: 'no key of CREDENTIALS_KEY opens its secret: give it a new one',
};

/** An event by its id, and the body to send for it. */
interface EventToSend {
  readonly id: string;
  readonly body: string;
}

export interface WebhookPumpOptions extends Pick<EndpointPumpOptions, 'clock' | 'random' | 'log'> {
  readonly actors: Pick<Actors, 'ask'>;
  readonly store: EventStore;
  readonly messages: Pick<ShopOperations, 'message'>;
  readonly inbound: Pick<InboundOperations, 'eventOf'>;
  readonly cipher: TextCipher;
  readonly delivery: DeliveryOptions;
}

/** Counts of a node's webhooks since its start, and their present state. */
export interface WebhookFigures {
  readonly delivered: number;
  readonly failed: number;
  readonly undelivered: number;
  readonly disabled: number;
  /** Times that events were cut off before an endpoint got them. */
  readonly gaps: number;
  /** Endpoints that are sent events here. */
  readonly endpoints: number;
  /** The number of events that wait for a retry. */
  readonly waiting: number;
}

/**
 * Sends the events of this node's tenants to their endpoints. A tenant belongs to this node while its actor is active
 * here. The actor names the endpoints, and stores the progress of each behind the fence.
 */
export class WebhookPump {
  readonly #options: WebhookPumpOptions;
  readonly #slots = new FairSlots(SLOTS);
  readonly #pumps = new Map<string, Map<string, EndpointPump>>();
  #isEnding = false;
  readonly #counts = { delivered: 0, failed: 0, undelivered: 0, disabled: 0, gaps: 0 };

  constructor(options: WebhookPumpOptions) {
    this.#options = options;
  }

  /**
   * Sends the tenant's events to these endpoints only. Attempts to other endpoints end and are recorded. `loading`
   * names the loading of the tenant's actor: the actor stores the progress of no earlier one.
   */
  sync(tenantId: string, webhooks: ReadonlyMap<string, WebhookRecord>, loading: symbol): void {
    if (this.#isEnding) return;
    const pumps = this.#pumps.get(tenantId) ?? new Map<string, EndpointPump>();
    for (const [id, pump] of pumps) {
      if (webhooks.get(id)?.disabled !== null && !pump.isSettling) this.#takeAway(tenantId, id, pump);
    }
    for (const webhook of webhooks.values()) {
      const runningPump = pumps.get(webhook.id);
      // A disabled endpoint is updated too, because it may be moved while its attempts end.
      runningPump?.update(webhook);
      if (runningPump !== undefined || webhook.disabled !== null) continue;
      const pump = new EndpointPump(webhook, this.#endpoint(tenantId, loading));
      pumps.set(webhook.id, pump);
      void pump.run();
    }
    if (pumps.size > 0) this.#pumps.set(tenantId, pumps);
    else this.#pumps.delete(tenantId);
  }

  /**
   * Lets an endpoint's loop settle. It stays available until then, so that no second loop starts from the stored
   * progress.
   */
  #takeAway(tenantId: string, webhookId: string, pump: EndpointPump): void {
    void pump.settle().then(() => {
      const pumps = this.#pumps.get(tenantId);
      if (!pump.isSettling || pumps?.get(webhookId) !== pump) return;
      pumps.delete(webhookId);
      if (pumps.size === 0) this.#pumps.delete(tenantId);
    });
  }

  /** Makes the tenant's loops check for new events. */
  wake(tenantId: string): void {
    for (const pump of this.#pumps.get(tenantId)?.values() ?? []) pump.wake();
  }

  /** Stops sending to the tenant's endpoints: the tenant leaves this node. */
  stop(tenantId: string): void {
    for (const pump of this.#pumps.get(tenantId)?.values() ?? []) pump.stop();
    this.#pumps.delete(tenantId);
  }

  /** This node stops: begins no more attempts. Resolves once the results of those under way are stored. */
  async settle(): Promise<void> {
    this.#isEnding = true;
    const pumps = [...this.#pumps.values()].flatMap((ofTenant) => [...ofTenant.values()]);
    await Promise.all(pumps.map((pump) => pump.settle()));
  }

  /**
   * Sends events to an endpoint again; resolves once they are stored as due. `full`: more would wait than may. While
   * this node stops, no loop takes a replay. It then rejects with `SHARD_NOT_OWNED`, so that the next owner is asked.
   */
  async replay(
    tenantId: string,
    webhookId: string,
    events: readonly ReplayedEvent[],
  ): Promise<'replayed' | 'disabled' | 'full'> {
    if (this.#isEnding) throw movedAwayFailure();
    const pump = this.#pumps.get(tenantId)?.get(webhookId);
    if (pump === undefined || pump.isSettling) return 'disabled';
    return (await pump.replay(events)) ? 'replayed' : 'full';
  }

  /**
   * Sends a body once, as an event of that id. Rejects with the `RuntimeFailure` `NODE_BUSY`, and sends nothing, if no
   * slot is free within `TEST_SLOT_WAIT_MS`.
   */
  async send(tenantId: string, webhook: WebhookRecord, event: EventToSend): Promise<DeliveryResult> {
    const tooLong = new AbortController();
    const timer = this.#options.clock.after(TEST_SLOT_WAIT_MS, () =>
      tooLong.abort(new RuntimeFailure('NODE_BUSY', 'no slot for a test of a webhook is free', 1)),
    );
    const work = (): Promise<SentEvent> => {
      timer.cancel();
      return this.#sendNow(tenantId, webhook, event);
    };
    return (await this.#slots.run(slotsOf(tenantId, 'tests'), work, tooLong.signal)).result;
  }

  /** Sends it once a slot of its endpoint's pace is free, if it may begin then. */
  #sendInTurn(
    tenantId: string,
    event: EventToSend,
    { pace, begin }: Parameters<EndpointPumpOptions['send']>[2],
  ): Promise<SentEvent | undefined> {
    return this.#slots.run(slotsOf(tenantId, pace), async (slot) => {
      const webhook = begin();
      if (webhook === undefined) return undefined;
      const timer =
        pace === 'slow'
          ? undefined
          : this.#options.clock.after(SLOW_MS, () => slot.moveTo(slotsOf(tenantId, 'slow')));
      const sentEvent = await this.#sendNow(tenantId, webhook, event);
      timer?.cancel();
      return sentEvent;
    });
  }

  async #sendNow(tenantId: string, webhook: WebhookRecord, event: EventToSend): Promise<SentEvent> {
    const { clock } = this.#options;
    const atMs = clock.wallMs();
    const startedMs = clock.monotonicMs();
    const result = await this.#deliver(tenantId, webhook, event);
    return { result, atMs, durationMs: Math.round(clock.monotonicMs() - startedMs) };
  }

  async #deliver(tenantId: string, webhook: WebhookRecord, event: EventToSend): Promise<DeliveryResult> {
    const { clock, cipher, delivery } = this.#options;
    const nowMs = clock.wallMs();
    const use = secretUse(tenantId, webhook.id);
    const openedSecrets = secretsAt(webhook, nowMs).map((secret) => openedSecret(cipher, use, secret));
    if (openedSecrets[0] === undefined) return SECRET_UNREADABLE;
    const secrets = openedSecrets.filter((secret) => secret !== undefined);
    return deliver(webhook.url, { ...event, timestamp: Math.floor(nowMs / 1_000), secrets }, delivery);
  }

  /** Counts and logs an endpoint that the service itself disabled. */
  countDisabled(tenantId: string, webhookId: string, reason: WebhookEnd): void {
    this.#counts.disabled += 1;
    this.#options.log.warn({ tenantId, webhookId, why: reason }, 'a webhook was disabled');
  }

  /** Counts since the start, and the endpoints' present state. */
  figures(): WebhookFigures {
    const pumps = [...this.#pumps.values()].flatMap((ofTenant) =>
      [...ofTenant.values()].filter(({ isSettling }) => !isSettling),
    );
    const waitingCount = pumps.reduce((sum, pump) => sum + pump.waiting, 0);
    return { ...this.#counts, endpoints: pumps.length, waiting: waitingCount };
  }

  #endpoint(tenantId: string, loading: symbol): EndpointPumpOptions {
    const { actors, store, clock, random, log, messages, inbound } = this.#options;
    const { events: key, webhookProgress } = tenantKeys(tenantId);
    return {
      clock,
      random,
      log,
      async progress(webhookId) {
        return (await readProgress(store, webhookProgress, [webhookId])).get(webhookId);
      },
      eventsAfter: (place, limit, webhook) => readAfter(store, { key, place, limit, webhook }),
      eventAt: (place) => readAt(store, { key, place }),
      async body(event) {
        const view = await eventView(event, tenantId, { messages, inbound });
        return view && JSON.stringify(view);
      },
      send: ({ streamId }, body, destination) =>
        this.#sendInTurn(tenantId, { id: cursorOf(streamId), body }, destination),
      store: async (webhookId, progress, attempts) => {
        const command = { type: 'webhook_progress', loading, webhookId, progress, attempts } as const;
        const storeReply = await askTenant(actors, tenantId, command);
        if (!storeReply.ok) return false;
        this.#count(attempts);
        return true;
      },
      disable: async ({ id: webhookId, enabledAtMs }, reason) => {
        await askTenant(actors, tenantId, { type: 'disable_webhook', webhookId, enabledAtMs, why: reason });
      },
      onMissed: (webhookId, untilMs) => {
        this.#counts.gaps += 1;
        const until = new Date(untilMs).toISOString();
        log.warn({ tenantId, webhookId, until }, 'events were removed before a webhook got them');
      },
    };
  }

  #count(attempts: readonly { readonly error: string | null; readonly isDead: boolean }[]): void {
    for (const { error, isDead } of attempts) {
      if (error === null) this.#counts.delivered += 1;
      else this.#counts.failed += 1;
      if (isDead) this.#counts.undelivered += 1;
    }
  }
}

/** Returns the name of a tenant's share of the slots. */
function slotsOf(tenantId: string, share: EndpointPace | 'tests'): string {
  return `${tenantId} ${share}`;
}
