import { isIP } from 'node:net';
import type { Actors } from '../../runtime/actors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../../runtime/store.ts';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import { done, type FieldProblem, failed, type Outcome } from '../failure.ts';
import type { AddressGuard } from '../outbound/address-guard.ts';
import type { EventOperations } from '../shop/record/event-operations.ts';
import { cursorOf, streamIdOf } from '../tenant/event-cursor.ts';
import { decodeEvent, type StreamEntry } from '../tenant/tenant-event.ts';
import { tenantAddress, tenantKeys } from '../tenant/tenant-keys.ts';
import type { TenantState } from '../tenant/tenant-state.ts';
import type {
  WebhookAttempt,
  WebhookChanges,
  WebhookProgress,
  WebhookRecord,
} from '../tenant/webhook-record.ts';
import { isWanted, MOST_WAITING } from './endpoint-pump.ts';
import { makeSecret } from './signature.ts';
import type { AttemptView, WebhookOperations, WebhookView } from './webhook-operations.ts';
import type { WebhookPump } from './webhook-pump.ts';
import { openedSecret, secretUse } from './webhook-secrets.ts';

/** How long a secret that was rotated away still signs. */
const OVERLAP_MS = 24 * 3_600_000;
/** Events that one replay sends at most: as many as may wait to be tried again. */
const MOST_REPLAYED = 200;
/** Why nothing is replayed. */
const WEBHOOK_DISABLED = 'The webhook is disabled, or its tenant is not active.';
const TOO_MANY_WAIT = `More than ${MOST_WAITING} events would wait to be sent to the webhook; replay fewer, or once fewer wait.`;
/** Why an endpoint cannot be enabled. */
const SECRET_LOST =
  'No key of CREDENTIALS_KEY opens the secret of the webhook: give it a new one with rotate-secret.';
/** Tries that are looked through for those of one endpoint. */
const LOOKED_AT = 2_000;

/** What webhooks are kept and sent with. */
export interface WebhookServiceOptions {
  readonly actors: Actors;
  readonly store: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly cipher: TextCipher;
  readonly pump: WebhookPump;
  readonly events: EventOperations;
  readonly guard: AddressGuard;
  /** Whether an endpoint may be at an http address: only on loopback, and only where the network is simulated. */
  allowsHttp(url: string): boolean;
  makeId(nowMs: number): string;
}

/** Webhooks of tenants that are here, and the way to change them. */
interface WebhookAccess {
  readonly stateOf: (tenantId: string) => Promise<TenantState | undefined>;
  readonly progressOf: (
    tenantId: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, WebhookProgress>>;
  readonly viewed: (tenantId: string, webhook: WebhookRecord) => Promise<WebhookView>;
  readonly withWebhook: <Value>(
    tenantId: string,
    webhookId: string,
    answer: (webhook: WebhookRecord) => Promise<Outcome<Value>>,
  ) => Promise<Outcome<Value>>;
  readonly change: (
    tenantId: string,
    webhookId: string,
    changes: WebhookChanges,
  ) => Promise<Outcome<WebhookRecord>>;
}

/** The operators' side of webhooks. */
export function webhookService(options: WebhookServiceOptions): WebhookOperations {
  const access = webhookAccess(options);
  return { ...settings(options, access), ...secrets(options, access), ...deliveries(options, access) };
}

function webhookAccess({ actors, store }: WebhookServiceOptions): WebhookAccess {
  const stateOf: WebhookAccess['stateOf'] = async (tenantId) => {
    const state = await actors.state<TenantState>(tenantAddress(tenantId));
    return state?.record.deleted ? undefined : state;
  };
  const progressOf: WebhookAccess['progressOf'] = async (tenantId, ids) => {
    if (ids.length === 0) return new Map();
    const { webhookProgress } = tenantKeys(tenantId);
    const [stored] = (await store.read([['HMGET', webhookProgress, ...ids]])) as [(string | null)[]];
    return new Map(
      ids.flatMap((id, index) => {
        const text = stored[index];
        return text == null ? [] : [[id, JSON.parse(text) as WebhookProgress] as const];
      }),
    );
  };
  return {
    stateOf,
    progressOf,
    viewed: async (tenantId, webhook) =>
      view(webhook, (await progressOf(tenantId, [webhook.id])).get(webhook.id)),
    async withWebhook(tenantId, webhookId, answer) {
      const webhook = (await stateOf(tenantId))?.webhooks.get(webhookId);
      return webhook === undefined ? failed('NOT_FOUND') : answer(webhook);
    },
    async change(tenantId, webhookId, changes) {
      const command = { type: 'change_webhook', webhookId, changes } as const;
      const changed = await actors.ask<Outcome<WebhookRecord>>(tenantAddress(tenantId), command);
      return changed ?? failed('NOT_FOUND');
    },
  };
}

function settings(
  options: WebhookServiceOptions,
  { stateOf, progressOf, viewed, change }: WebhookAccess,
): Pick<WebhookOperations, 'create' | 'list' | 'change' | 'remove'> {
  const { actors, clock, cipher, events, makeId } = options;
  return {
    async create(tenantId, draft) {
      const state = await stateOf(tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const problems = problemsOf(draft, state, { ...options, isAsked: true });
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const nowMs = clock.wallMs();
      const id = makeId(nowMs);
      const secret = makeSecret();
      const now = await events.list(tenantId, NOW);
      if (!now.ok) return now;
      const webhook: WebhookRecord = {
        ...{ id, ...draft, secret: cipher.seal(secretUse(tenantId, id), secret), former: null },
        ...{
          since: streamIdOf(now.value.nextCursor),
          createdAtMs: nowMs,
          enabledAtMs: nowMs,
          disabled: null,
        },
      };
      const command = { type: 'put_webhook', webhook } as const;
      const put = await actors.ask<Outcome<WebhookRecord>>(tenantAddress(tenantId), command);
      if (put?.ok !== true) return put ?? failed('NOT_FOUND');
      return done({ webhook: view(put.value, undefined), secret });
    },
    async list(tenantId) {
      const state = await stateOf(tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const progress = await progressOf(tenantId, [...state.webhooks.keys()]);
      return done([...state.webhooks.values()].map((webhook) => view(webhook, progress.get(webhook.id))));
    },
    async change(tenantId, webhookId, { disabled, ...given }) {
      const state = await stateOf(tenantId);
      const webhook = state?.webhooks.get(webhookId);
      if (state === undefined || webhook === undefined) return failed('NOT_FOUND');
      const { url = webhook.url, types = webhook.types, shops = webhook.shops } = given;
      const problems = problemsOf({ url, shops: given.shops ?? null }, state, {
        ...options,
        // An address that may be asked no more may stay where nothing is sent to it.
        isAsked: given.url !== undefined || disabled === false,
      });
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const isReadable = openedSecret(cipher, secretUse(tenantId, webhookId), webhook.secret) !== undefined;
      if (disabled === false && !isReadable) return failed('CONFLICT', { message: SECRET_LOST });
      const nowMs = clock.wallMs();
      const changed = await change(tenantId, webhookId, {
        ...{ url, types, shops },
        ...(disabled === true ? { disabled: { atMs: nowMs, why: 'operator' } } : {}),
        ...(disabled === false ? { disabled: null } : {}),
        ...(disabled === false || url !== webhook.url ? { enabledAtMs: nowMs } : {}),
      });
      return changed.ok ? done(await viewed(tenantId, changed.value)) : changed;
    },
    async remove(tenantId, webhookId) {
      const command = { type: 'delete_webhook', webhookId } as const;
      type Removed = Outcome<{ readonly id: string; readonly deleted: true }>;
      return (await actors.ask<Removed>(tenantAddress(tenantId), command)) ?? failed('NOT_FOUND');
    },
  };
}

function secrets(
  { clock, cipher }: WebhookServiceOptions,
  { withWebhook, change, viewed }: WebhookAccess,
): Pick<WebhookOperations, 'rotateSecret'> {
  return {
    rotateSecret: (tenantId, webhookId) =>
      withWebhook(tenantId, webhookId, async (webhook) => {
        const secret = makeSecret();
        const nowMs = clock.wallMs();
        const use = secretUse(tenantId, webhookId);
        const isReadable = openedSecret(cipher, use, webhook.secret) !== undefined;
        const changed = await change(tenantId, webhookId, {
          secret: cipher.seal(use, secret),
          former: isReadable ? { secret: webhook.secret, untilMs: nowMs + OVERLAP_MS } : null,
          // What held it up is gone.
          ...(webhook.disabled?.why === 'unreadable' ? { disabled: null, enabledAtMs: nowMs } : {}),
        });
        return changed.ok ? done({ webhook: await viewed(tenantId, changed.value), secret }) : changed;
      }),
  };
}

function deliveries(
  { store, clock, pump, makeId }: WebhookServiceOptions,
  { withWebhook, progressOf }: WebhookAccess,
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
        const [entries] = (await store.read([
          ['XREVRANGE', webhookAttempts, '+', '-', 'COUNT', LOOKED_AT],
        ])) as [StreamEntry[]];
        const own = entries.filter(([, fields]) => fields[1] === webhookId).slice(0, limit);
        const items = own.map(([, fields]) => attemptView(JSON.parse(fields[3] ?? '') as WebhookAttempt));
        const progress = (await progressOf(tenantId, [webhookId])).get(webhookId);
        return done({ items, deadLetters: (progress?.dead ?? []).map(cursorOf) });
      }),
    replay: (tenantId, webhookId, what) =>
      withWebhook(tenantId, webhookId, async (webhook) => {
        const { events } = tenantKeys(tenantId);
        const places =
          'eventIds' in what
            ? await placesOf(store, { key: events, eventIds: what.eventIds, webhook })
            : await placesSince(store, { key: events, sinceMs: what.sinceMs, webhook });
        const replayed = await pump.replay(tenantId, webhookId, places);
        if (replayed === 'replayed') return done({ replayed: places.length });
        return failed('CONFLICT', { message: replayed === 'full' ? TOO_MANY_WAIT : WEBHOOK_DISABLED });
      }),
  };
}

const NOW = { cursor: undefined, limit: 1, types: undefined, shopId: undefined, waitMs: 0 } as const;

/** Those of the events that are kept and that the endpoint is to get. */
async function placesOf(
  store: Pick<Store, 'read'>,
  asked: { readonly key: string; readonly eventIds: readonly string[]; readonly webhook: WebhookRecord },
): Promise<string[]> {
  const { key, eventIds, webhook } = asked;
  const places = eventIds.map(streamIdOf);
  const found = (await store.read(places.map((place) => ['XRANGE', key, place, place]))) as StreamEntry[][];
  const wanted = found
    .flat()
    .map(decodeEvent)
    .filter((event) => isWanted(webhook, event));
  return wanted.map(({ streamId }) => streamId);
}

/** The first events since a moment that the endpoint is to get. */
async function placesSince(
  store: Pick<Store, 'read'>,
  asked: { readonly key: string; readonly sinceMs: number; readonly webhook: WebhookRecord },
): Promise<string[]> {
  const { key, sinceMs, webhook } = asked;
  const places: string[] = [];
  let from = String(sinceMs);
  for (;;) {
    const [entries] = (await store.read([['XRANGE', key, from, '+', 'COUNT', MOST_REPLAYED]])) as [
      StreamEntry[],
    ];
    const wanted = entries.map(decodeEvent).filter((event) => isWanted(webhook, event));
    places.push(...wanted.map(({ streamId }) => streamId));
    const last = entries.at(-1)?.[0];
    if (last === undefined || places.length >= MOST_REPLAYED) return places.slice(0, MOST_REPLAYED);
    from = `(${last}`;
  }
}

/** What is wrong with an endpoint: an address that is asked and may not be, shops that the tenant has not. */
function problemsOf(
  { url, shops }: Pick<WebhookRecord, 'url' | 'shops'>,
  state: TenantState,
  options: Pick<WebhookServiceOptions, 'guard' | 'allowsHttp'> & { readonly isAsked: boolean },
): FieldProblem[] {
  return [...(options.isAsked ? addressProblems(url, options) : []), ...shopProblems(shops, state)];
}

function addressProblems(
  url: string,
  { guard, allowsHttp }: Pick<WebhookServiceOptions, 'guard' | 'allowsHttp'>,
): FieldProblem[] {
  const parsed = new URL(url);
  const port = Number(parsed.port) || (parsed.protocol === 'https:' ? 443 : 80);
  const literal = parsed.hostname.replace(/^\[|\]$/g, '');
  if (parsed.protocol !== 'https:' && !allowsHttp(url))
    return [{ field: 'url', message: 'must be at https' }];
  if (isIP(literal) === 0 || guard.allows(literal, port)) return [];
  return [{ field: 'url', message: 'must be at a public address and port 443' }];
}

function shopProblems(shops: readonly string[] | null, state: TenantState): FieldProblem[] {
  return (shops ?? []).flatMap((shopId, index) => {
    if (state.shops.has(shopId)) return [];
    return { field: `shops.${index}`, message: 'must be the id of a shop of the tenant' };
  });
}

const iso = (ms: number | null | undefined): string | null =>
  ms == null ? null : new Date(ms).toISOString();

function view(webhook: WebhookRecord, progress: WebhookProgress | undefined): WebhookView {
  const { id, url, types, shops, createdAtMs, disabled, former } = webhook;
  return {
    ...{ id, url, types, shops },
    createdAt: new Date(createdAtMs).toISOString(),
    disabledAt: iso(disabled?.atMs),
    disabledBy: disabled?.why ?? null,
    formerSecretUntil: iso(former?.untilMs),
    failingSince: iso(progress?.failingSinceMs),
    waiting: progress?.retries.length ?? 0,
    deadLetters: progress?.dead.length ?? 0,
    missedUntil: iso(progress?.missedUntilMs),
  };
}

function attemptView({ atMs, ...attempt }: WebhookAttempt): AttemptView {
  const { eventId, type, durationMs, number, status, error, isDead } = attempt;
  return { eventId, type, at: new Date(atMs).toISOString(), durationMs, number, status, error, isDead };
}
