import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { cursorOf, streamIdOf } from '../tenants/stored-events/event-cursor.ts';
import { decodeEvent, type StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import { placeOf } from '../tenants/stored-webhooks/webhook-progress.ts';
import type { WebhookAttempt, WebhookRecord } from '../tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import { isWanted, MOST_WAITING } from './endpoint-pump.ts';
import type { WebhookAccess } from './webhook-access.ts';
import type { AttemptView, WebhookOperations } from './webhook-operations.ts';
import type { WebhookPump } from './webhook-pump.ts';

/** The most events that one replay sends: the number that may wait for a retry. */
const MOST_REPLAYED = 200;
/** Why nothing is replayed. */
const WEBHOOK_DISABLED = 'The webhook is disabled, or its tenant is not active.';
const TOO_MANY_WAIT = `More than ${MOST_WAITING} events would wait to be sent to the webhook; replay fewer, or once fewer wait.`;
/** Attempts that are read to find those of one endpoint. */
const LOOKED_AT = 2_000;

export interface WebhookDeliveriesOptions {
  readonly store: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly pump: WebhookPump;
  makeId(nowMs: number): string;
}

/** Lists sent events and waiting retries of endpoints, and replays them, for operators. */
export function webhookDeliveries(
  { store, clock, pump, makeId }: WebhookDeliveriesOptions,
  { withWebhook, progressOf }: Pick<WebhookAccess, 'withWebhook' | 'progressOf'>,
): Pick<WebhookOperations, 'test' | 'attempts' | 'replay'> {
  return {
    test: (tenantId, webhookId) =>
      withWebhook(tenantId, webhookId, async (webhook) => {
        const nowMs = clock.wallMs();
        const id = makeId(nowMs);
        const timestamp = new Date(nowMs).toISOString();
        const body = JSON.stringify({ id, type: 'webhook.test', timestamp, data: {} });
        const { status, error } = await pump.send(tenantId, webhook, { id, body });
        return done({ status, error });
      }),
    attempts: (tenantId, webhookId, limit) =>
      withWebhook(tenantId, webhookId, async () => {
        const { webhookAttempts } = tenantKeys(tenantId);
        const [entries] = await store.read([['XREVRANGE', webhookAttempts, '+', '-', 'COUNT', LOOKED_AT]]);
        const ownEntries = entries.filter(([, fields]) => fields[1] === webhookId).slice(0, limit);
        const items = ownEntries.map(([, fields]) =>
          attemptView(JSON.parse(fields[3] ?? '') as NotedAttempt),
        );
        const progress = (await progressOf(tenantId, [webhookId])).get(webhookId);
        return done({
          items,
          deadLetters: (progress?.dead ?? []).map((letter) => cursorOf(placeOf(letter))),
        });
      }),
    replay: (tenantId, webhookId, selection) =>
      withWebhook(tenantId, webhookId, async (webhook) => {
        const { events } = tenantKeys(tenantId);
        const replayReply =
          'eventIds' in selection
            ? await eventsOf(store, { key: events, eventIds: selection.eventIds, webhook })
            : await eventsSince(store, { key: events, sinceMs: selection.sinceMs, webhook });
        const outcome = await withReplyTimeout(clock, pump.replay(tenantId, webhookId, replayReply));
        if (outcome === 'replayed') return done({ replayed: replayReply.length });
        return failed('CONFLICT', { message: outcome === 'full' ? TOO_MANY_WAIT : WEBHOOK_DISABLED });
      }),
  };
}

/** Returns the events that are kept and that the endpoint is to get. */
async function eventsOf(
  store: Pick<Store, 'read'>,
  request: { readonly key: string; readonly eventIds: readonly string[]; readonly webhook: WebhookRecord },
): Promise<StoredEvent[]> {
  const { key, eventIds, webhook } = request;
  // An id is the same in capital letters.
  const places = [...new Set(eventIds.map(streamIdOf))];
  const replies = await store.read(places.map((place) => ['XRANGE', key, place, place]));
  return replies
    .flat()
    .map(decodeEvent)
    .filter((event) => isWanted(webhook, event));
}

/** The first events since a moment that the endpoint is to get. */
async function eventsSince(
  store: Pick<Store, 'read'>,
  request: { readonly key: string; readonly sinceMs: number; readonly webhook: WebhookRecord },
): Promise<StoredEvent[]> {
  const { key, sinceMs, webhook } = request;
  const events: StoredEvent[] = [];
  // Redis accepts no position before its epoch.
  let fromId = String(Math.max(0, sinceMs));
  for (;;) {
    const [entries] = await store.read([['XRANGE', key, fromId, '+', 'COUNT', MOST_REPLAYED]]);
    events.push(...entries.map(decodeEvent).filter((event) => isWanted(webhook, event)));
    const lastId = entries.at(-1)?.[0];
    if (lastId === undefined || events.length >= MOST_REPLAYED) return events.slice(0, MOST_REPLAYED);
    fromId = `(${lastId}`;
  }
}

/** An attempt as the stream stores it; the stream's entry names the shop. */
type NotedAttempt = Omit<WebhookAttempt, 'shopId'>;

function attemptView({ atMs, ...attempt }: NotedAttempt): AttemptView {
  const { eventId, type, durationMs, number, status, error, isDead } = attempt;
  return { eventId, type, at: new Date(atMs).toISOString(), durationMs, number, status, error, isDead };
}
