import type { Clock } from '../../runtime/clock.ts';
import { movedAwayFailure } from '../../runtime/runtime-failure.ts';
import type { Store } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { cursorOf, streamIdOf } from '../tenants/stored-events/event-cursor.ts';
import { decodeEvent, type StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import {
  ATTEMPTS_KEPT,
  type AttemptOfShop,
  decodeAttempt,
  webhookIdOf,
} from '../tenants/stored-webhooks/webhook-attempts.ts';
import { placeOf } from '../tenants/stored-webhooks/webhook-progress.ts';
import type { WebhookRecord } from '../tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import { isWanted, MOST_WAITING } from './next-attempts.ts';
import type { WebhookAccess } from './webhook-access.ts';
import { type AttemptView, MOST_REPLAYED, type WebhookOperations } from './webhook-operations.ts';
import type { WebhookPump } from './webhook-pump.ts';

/** The reasons why nothing is replayed. */
const WEBHOOK_DISABLED = 'The webhook is disabled, or its tenant is not active.';
const TOO_MANY_WAIT = `More than ${MOST_WAITING} events would wait to be sent to the webhook; replay fewer, or once fewer wait.`;

/** How often the record is read for one replay, at most. */
const REPLAY_TRIES = 2;

type Replay = WebhookOperations['replay'];

export interface WebhookDeliveriesOptions {
  readonly store: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly pump: WebhookPump;
  makeId(nowMs: number): string;
}

/** Tests endpoints, lists their attempts and dead letters, and replays events, for operators and tenants. */
export function webhookDeliveries(
  { store, clock, pump, makeId }: WebhookDeliveriesOptions,
  { withWebhook, progressOf }: Pick<WebhookAccess, 'withWebhook' | 'progressOf'>,
): Pick<WebhookOperations, 'test' | 'attempts' | 'replay'> {
  const replay = (tries: number, ...call: Parameters<Replay>): ReturnType<Replay> => {
    const [tenantId, webhookId, selection] = call;
    return withWebhook(tenantId, webhookId, async (webhook, isSent) => {
      const { events } = tenantKeys(tenantId);
      const replayedEvents =
        selection.kind === 'events'
          ? await eventsOf(store, { key: events, eventIds: selection.eventIds, webhook })
          : await eventsSince(store, { key: events, sinceMs: selection.sinceMs, webhook });
      const outcome = await withReplyTimeout(clock, pump.replay(tenantId, webhookId, replayedEvents));
      if (outcome === 'replayed') return done({ replayed: replayedEvents.length });
      if (outcome === 'full') return failed('CONFLICT', { message: TOO_MANY_WAIT });
      if (!isSent) return failed('CONFLICT', { message: WEBHOOK_DISABLED });
      // Since the record was read, the tenant left this node, its actor was restarted, or the endpoint was disabled.
      if (tries === 1) throw movedAwayFailure();
      return replay(tries - 1, ...call);
    });
  };
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
        const [entries] = await store.read([
          ['XREVRANGE', webhookAttempts, '+', '-', 'COUNT', ATTEMPTS_KEPT],
        ]);
        const ownEntries = entries.filter((entry) => webhookIdOf(entry) === webhookId).slice(0, limit);
        const items = ownEntries.map((entry) => attemptView(decodeAttempt(entry)));
        const progress = (await progressOf(tenantId, [webhookId])).get(webhookId);
        return done({
          items,
          deadLetters: (progress?.dead ?? []).map((letter) => cursorOf(placeOf(letter))),
        });
      }),
    replay: (...call) => replay(REPLAY_TRIES, ...call),
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

/** Returns the first events since a moment that the endpoint is to get. */
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

function attemptView({ atMs, ...attempt }: AttemptOfShop): AttemptView {
  const { eventId, type, durationMs, number, status, error, isDead } = attempt;
  return { eventId, type, at: new Date(atMs).toISOString(), durationMs, number, status, error, isDead };
}
