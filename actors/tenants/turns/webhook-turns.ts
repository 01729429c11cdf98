import type { Turn } from '../../../runtime/behaviour.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import { writeOfAttempt } from '../stored-webhooks/webhook-attempts.ts';
import { ofShops, writeOfProgress } from '../stored-webhooks/webhook-progress.ts';
import {
  laterEnabledAtMs,
  type WebhookChanges,
  type WebhookKeeper,
  type WebhookProgress,
  type WebhookRecord,
} from '../stored-webhooks/webhook-record.ts';
import type { TenantEffect, TenantFieldsOf } from '../tenant-commands.ts';
import type { TenantTurn, TurnInputs } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';

/** A tenant with this many endpoints is refused another one. The key says who makes the call. */
const MOST_WEBHOOKS: { readonly [By in WebhookKeeper]: number } = { tenant: 20, operator: 1_000 };
/** How long a rotated secret still signs, in milliseconds. */
const OVERLAP_MS = DAY_MS;
/** Most former secrets that sign: they bound the record, and the header of signatures. */
const MOST_FORMER_SECRETS = 4;

/**
 * Returns the effect that names the endpoints that get events. A tenant that is not active has none. Their events wait
 * until the tenant is active again.
 */
export function webhooksChanged({
  record,
  webhooks,
  loading,
}: Pick<TenantState, 'record' | 'webhooks' | 'loading'>): TenantEffect {
  const isSent = record.active && !record.deleted;
  return { type: 'webhooks_changed', webhooks: isSent ? webhooks : new Map(), loading };
}

/** Adds an endpoint, unless the tenant has as many as its keeper may have. */
export function putWebhook(
  state: TenantState,
  { webhook, by }: TenantFieldsOf<'put_webhook'>,
): TenantTurn<'put_webhook'> {
  const mostWebhooks = MOST_WEBHOOKS[by];
  if (state.webhooks.size < mostWebhooks) return putInState(state, webhook);
  if (by === 'operator')
    return { reply: failed('CONFLICT', { message: `A tenant has at most ${mostWebhooks} webhooks.` }) };
  const message = `The account has ${state.webhooks.size} webhooks; its keys may make ${mostWebhooks}: delete one, or ask the operators.`;
  return { reply: failed('WEBHOOK_LIMIT_REACHED', { message }) };
}

/**
 * Stores and starts the endpoints at an activation: secrets are sealed again if the configured keys changed, and events
 * are sent from here. Ids of shops that 0.2.0 erased are removed.
 */
export function activateWebhooks(
  state: TenantState,
  reseal: (webhook: WebhookRecord) => WebhookRecord,
): Required<Pick<Turn<TenantState, TenantEffect>, 'state' | 'writes' | 'effects'>> {
  const isChanged = (webhook: WebhookRecord) => webhook !== state.webhooks.get(webhook.id);
  const resealedWebhooks = [...state.webhooks.values()].map(reseal);
  const unreadableWebhooks = resealedWebhooks
    .filter((webhook) => isChanged(webhook) && webhook.disabled?.why === 'unreadable')
    .map(({ id }) => id);
  const keptWebhooks = resealedWebhooks.map((webhook) => withoutErasedShops(webhook, state));
  const webhooks = new Map(keptWebhooks.map((webhook) => [webhook.id, webhook]));
  const storedFields = keptWebhooks
    .filter(isChanged)
    .flatMap((webhook) => [webhook.id, JSON.stringify(webhook)]);
  const effects = [webhooksChanged({ ...state, webhooks })];
  if (unreadableWebhooks.length > 0)
    effects.push({ type: 'webhooks_disabled', webhookIds: unreadableWebhooks, reason: 'unreadable' });
  return {
    state: { ...state, webhooks },
    writes: storedFields.length === 0 ? [] : [['HSET', state.keys.webhooks, ...storedFields]],
    effects,
  };
}

/** The last step of an unfinished erasure removes its shop. */
function withoutErasedShops(webhook: WebhookRecord, { shops, erasing }: TenantState): WebhookRecord {
  const isThere = (id: string) => shops.has(id) || erasing.has(id);
  return webhook.shops === null || webhook.shops.every(isThere)
    ? webhook
    : { ...webhook, shops: webhook.shops.filter(isThere) };
}

/** Changes an endpoint as requested. An endpoint that is enabled or moved starts without failures. */
export function changeWebhook(
  state: TenantState,
  {
    webhookId,
    changes,
  }: {
    readonly webhookId: string;
    readonly changes: WebhookChanges & Partial<Pick<WebhookRecord, 'secret' | 'former' | 'earlier'>>;
  },
  { nowMs }: Pick<TurnInputs, 'nowMs'>,
): TenantTurn<'change_webhook'> {
  const webhook = state.webhooks.get(webhookId);
  if (webhook === undefined) return { reply: failed('NOT_FOUND') };
  const changedWebhook = { ...webhook, ...changes };
  const startsOver = changes.disabled === null || changedWebhook.url !== webhook.url;
  const enabledAtMs = startsOver ? laterEnabledAtMs(webhook, nowMs) : webhook.enabledAtMs;
  return putInState(state, { ...changedWebhook, enabledAtMs });
}

/**
 * Gives an endpoint another secret; the present one also signs for 24 hours. The turn itself reads the present secret.
 * So if two calls rotate at once, the second one keeps the first one's secret as a former one. Former secrets sign
 * until their own time. The endpoint may still use one of them, if the reply to a rotation was lost.
 */
export function rotateWebhookSecret(
  state: TenantState,
  { webhookId, secret, unreadable }: TenantFieldsOf<'rotate_webhook_secret'>,
  { nowMs }: Pick<TurnInputs, 'nowMs'>,
): TenantTurn<'rotate_webhook_secret'> {
  const webhook = state.webhooks.get(webhookId);
  if (webhook === undefined) return { reply: failed('NOT_FOUND') };
  const isLost = webhook.secret === unreadable;
  const formerSecret = isLost ? null : { secret: webhook.secret, untilMs: nowMs + OVERLAP_MS };
  const secretsBefore = isLost || webhook.former === null ? [] : [webhook.former, ...(webhook.earlier ?? [])];
  const earlierSecrets = secretsBefore
    .filter(({ untilMs }) => untilMs > nowMs)
    .slice(0, MOST_FORMER_SECRETS - 1);
  // An endpoint that no key could open is enabled again.
  const enabled = webhook.disabled?.why === 'unreadable' ? { disabled: null } : {};
  return changeWebhook(
    state,
    { webhookId, changes: { secret, former: formerSecret, earlier: earlierSecrets, ...enabled } },
    { nowMs },
  );
}

/**
 * Disables an endpoint after its failed attempts, and notifies operators. Changes nothing if it is disabled already, or
 * was enabled or moved after the decision. `enabledAtMs` says when the endpoint that failed had been enabled.
 */
export function disableWebhook(
  state: TenantState,
  { webhookId, enabledAtMs, why: reason }: TenantFieldsOf<'disable_webhook'>,
  { nowMs }: Pick<TurnInputs, 'nowMs'>,
): TenantTurn<'disable_webhook'> {
  const webhook = state.webhooks.get(webhookId);
  if (webhook === undefined) return { reply: failed('NOT_FOUND') };
  if (webhook.disabled !== null || webhook.enabledAtMs !== enabledAtMs) return { reply: done(webhook) };
  const changedTurn = putInState(state, { ...webhook, disabled: { atMs: nowMs, why: reason } });
  const notice = { type: 'webhooks_disabled', webhookIds: [webhookId], reason } as const;
  return { ...changedTurn, effects: [...(changedTurn.effects ?? []), notice] };
}

/** Erases an endpoint and its stored progress. Its attempts stay among the tenant's until newer ones replace them. */
export function deleteWebhook(state: TenantState, webhookId: string): TenantTurn<'delete_webhook'> {
  if (!state.webhooks.has(webhookId)) return { reply: failed('NOT_FOUND') };
  const webhooks = new Map(state.webhooks);
  webhooks.delete(webhookId);
  return {
    state: { ...state, webhooks },
    writes: [
      ['HDEL', state.keys.webhooks, webhookId],
      ['HDEL', state.keys.webhookProgress, webhookId],
    ],
    effects: [webhooksChanged({ ...state, webhooks })],
    reply: done({ id: webhookId, deleted: true as const }),
  };
}

/**
 * Removes an erased shop from the endpoints that name it. An endpoint that named no other keeps an empty list and gets
 * nothing, because null would be all shops.
 */
export function withoutShop(
  state: TenantState,
  shopId: string,
): Required<Pick<Turn<TenantState, TenantEffect>, 'state' | 'writes' | 'effects'>> {
  const webhooksNamingShop = [...state.webhooks.values()].flatMap((webhook) =>
    webhook.shops?.includes(shopId)
      ? { ...webhook, shops: webhook.shops.filter((namedShopId) => namedShopId !== shopId) }
      : [],
  );
  if (webhooksNamingShop.length === 0) return { state, writes: [], effects: [] };
  const webhooks = new Map(state.webhooks);
  for (const webhook of webhooksNamingShop) webhooks.set(webhook.id, webhook);
  const storedFields = webhooksNamingShop.flatMap((webhook) => [webhook.id, JSON.stringify(webhook)]);
  return {
    state: { ...state, webhooks },
    writes: [['HSET', state.keys.webhooks, ...storedFields]],
    effects: [webhooksChanged({ ...state, webhooks })],
  };
}

/**
 * Stores an endpoint's progress, with the attempts that led to it. Refuses progress from an earlier loading of the
 * tenant: it waited in the mailbox, and the present sender started from the stored progress.
 *
 * The progress is written whole. With 1,000 dead letters and 200 retries it takes 63 KB and 0.4 ms of the event loop.
 * Dead letters have no key of their own, because 0.2.0 would not erase a shop's entries from that.
 */
export function webhookProgress(
  state: TenantState,
  { loading, webhookId, progress, attempts }: TenantFieldsOf<'webhook_progress'>,
): TenantTurn<'webhook_progress'> {
  if (loading !== state.loading || !state.webhooks.has(webhookId)) return { reply: failed('NOT_FOUND') };
  // Attempts for a shop that is being erased are not stored.
  const notedAttempts = attempts.filter(({ shopId }) => state.shops.has(shopId));
  const keptProgress = ofShops(progress, state.shops);
  return {
    writes: [
      writeOfProgress(state.keys.webhookProgress, webhookId, keptProgress),
      ...notedAttempts.map((attempt) => writeOfAttempt(state.keys.webhookAttempts, webhookId, attempt)),
    ],
    reply: done(true),
  };
}

/** Removes the entries of shops that are being erased from the endpoints' progress, which is given by webhook id. */
export function eraseProgress(
  state: TenantState,
  storedProgress: ReadonlyMap<string, WebhookProgress> = new Map(),
): TenantTurn<'erase_progress'> {
  const { keys, shops } = state;
  const writes = [...storedProgress].flatMap(([webhookId, progress]) => {
    const keptProgress = ofShops(progress, shops);
    const isSame =
      keptProgress.dead.length === progress.dead.length &&
      keptProgress.retries.length === progress.retries.length;
    return isSame ? [] : [writeOfProgress(keys.webhookProgress, webhookId, keptProgress)];
  });
  return { writes, reply: done(true) };
}

function putInState(
  state: TenantState,
  webhook: WebhookRecord,
): Turn<TenantState, TenantEffect> & { readonly reply: Outcome<WebhookRecord, never> } {
  const webhooks = new Map(state.webhooks).set(webhook.id, webhook);
  return {
    state: { ...state, webhooks },
    writes: [['HSET', state.keys.webhooks, webhook.id, JSON.stringify(webhook)]],
    effects: [webhooksChanged({ ...state, webhooks })],
    reply: done(webhook),
  };
}
