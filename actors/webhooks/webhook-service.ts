import { isIP } from 'node:net';
import type { Actors } from '../../runtime/actors.ts';
import { afterCommand } from '../../runtime/after-command.ts';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import type { EventOperations } from '../events/event-operations.ts';
import { done, type Failed, type FieldProblem, failed } from '../failure.ts';
import type { AddressGuard } from '../outbound/address-guard.ts';
import { presentFields } from '../present-fields.ts';
import { askTenant } from '../tenants/ask-tenant.ts';
import { presentTenant } from '../tenants/committed-tenant.ts';
import { streamIdOf } from '../tenants/stored-events/event-cursor.ts';
import type {
  WebhookChanges,
  WebhookKeeper,
  WebhookRecord,
} from '../tenants/stored-webhooks/webhook-record.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import { makeSecret } from './signature.ts';
import { type WebhookAccess, webhookAccess, webhookView } from './webhook-access.ts';
import { type WebhookDeliveriesOptions, webhookDeliveries } from './webhook-deliveries.ts';
import type { LimitCode, WebhookDraft, WebhookOperations } from './webhook-operations.ts';
import { openedSecret, secretUse } from './webhook-secrets.ts';

/** The reason why an endpoint cannot be enabled. */
const SECRET_LOST =
  'The secret of the webhook cannot be opened any more: give it a new one with rotate-secret.';
/** The message for an empty list of shops. Only an erasure makes one. */
const NOT_NONE = 'must have at least 1 item: leave it out to keep the shops; null is for all';
/** The port of endpoints. */
const HTTPS_PORT = 443;
/** Reads no event: the page's cursor is the present end of the stream. */
const NOW = { cursor: undefined, limit: 1, types: undefined, shopId: undefined, waitMs: 0 } as const;

export interface WebhookServiceOptions extends WebhookDeliveriesOptions {
  readonly actors: Actors;
  readonly cipher: TextCipher;
  readonly events: EventOperations;
  readonly guard: AddressGuard;
  /**
   * True if an endpoint may use http and any port, not only https at 443. This needs loopback, and a simulated network.
   */
  allowsHttp(url: string): boolean;
}

/** Operations on webhooks for their keepers: operators, and the tenants themselves. */
export function webhookService(options: WebhookServiceOptions): WebhookOperations {
  const access = webhookAccess(options);
  return { ...settings(options, access), ...secrets(options, access), ...webhookDeliveries(options, access) };
}

function settings(
  options: WebhookServiceOptions,
  { progressOf, viewOf, withWebhook }: WebhookAccess,
): Pick<WebhookOperations, 'create' | 'list' | 'read' | 'change' | 'remove'> {
  const { actors, clock, cipher, events, makeId } = options;
  return {
    async create<By extends WebhookKeeper>(tenantId: string, draft: WebhookDraft, keeper: By) {
      const state = await presentTenant(actors, tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const problems = problemsOf(draft, state, { ...options, isAsked: true });
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const nowMs = clock.wallMs();
      const id = makeId(nowMs);
      const secret = makeSecret();
      const newestPage = await events.list(tenantId, NOW);
      if (!newestPage.ok) return newestPage;
      const webhook: WebhookRecord = {
        id,
        ...draft,
        secret: cipher.seal(secretUse(tenantId, id), secret),
        former: null,
        since: streamIdOf(newestPage.value.nextCursor),
        createdAtMs: nowMs,
        enabledAtMs: nowMs,
        disabled: null,
      };
      const put = await askTenant(actors, tenantId, { type: 'put_webhook', webhook, by: keeper });
      // The code is that of the keeper who asked.
      if (!put.ok) return put as Failed<LimitCode[By]>;
      return done({ ...webhookView(put.value, undefined), secret });
    },
    async list(tenantId) {
      const state = await presentTenant(actors, tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const progress = await progressOf(tenantId, [...state.webhooks.keys()]);
      return done(
        [...state.webhooks.values()].map((webhook) => webhookView(webhook, progress.get(webhook.id))),
      );
    },
    read: (tenantId, webhookId) =>
      withWebhook(tenantId, webhookId, async (webhook) => done(await viewOf(tenantId, webhook))),
    async change(tenantId, webhookId, request, keeper) {
      const state = await presentTenant(actors, tenantId);
      const webhook = state?.webhooks.get(webhookId);
      if (state === undefined || webhook === undefined) return failed('NOT_FOUND');
      const isEmpty = request.shops?.length === 0;
      if (isEmpty && webhook.shops?.length !== 0)
        return failed('VALIDATION_ERROR', { fields: [{ field: 'shops', message: NOT_NONE }] });
      // The caller sends back what is stored since an erasure.
      const normalizedRequest = isEmpty ? { ...request, shops: undefined } : request;
      const { url, shops, disabled } = normalizedRequest;
      const problems = problemsOf({ url: url ?? webhook.url, shops: shops ?? null }, state, {
        ...options,
        // An address that is no longer allowed may stay, since each delivery checks it.
        isAsked: url !== undefined || disabled === false,
      });
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const isReadable = openedSecret(cipher, secretUse(tenantId, webhookId), webhook.secret) !== undefined;
      if (disabled === false && !isReadable) return failed('CONFLICT', { message: SECRET_LOST });
      const changes = changesOf(normalizedRequest, { nowMs: clock.wallMs(), by: keeper });
      const changeReply = await askTenant(actors, tenantId, { type: 'change_webhook', webhookId, changes });
      if (!changeReply.ok) return changeReply;
      return done(await afterCommand(() => viewOf(tenantId, changeReply.value)));
    },
    async remove(tenantId, webhookId) {
      return await askTenant(actors, tenantId, { type: 'delete_webhook', webhookId });
    },
  };
}

function secrets(
  { actors, cipher }: WebhookServiceOptions,
  { withWebhook, viewOf }: WebhookAccess,
): Pick<WebhookOperations, 'rotateSecret'> {
  return {
    rotateSecret: (tenantId, webhookId) =>
      withWebhook(tenantId, webhookId, async (webhook) => {
        const secret = makeSecret();
        const use = secretUse(tenantId, webhookId);
        const changeReply = await askTenant(actors, tenantId, {
          type: 'rotate_webhook_secret',
          webhookId,
          secret: cipher.seal(use, secret),
          unreadable: openedSecret(cipher, use, webhook.secret) === undefined ? webhook.secret : null,
        });
        if (!changeReply.ok) return changeReply;
        return done({ ...(await afterCommand(() => viewOf(tenantId, changeReply.value))), secret });
      }),
  };
}

/** Takes only the fields of the request: any other field may have changed since it was read. */
function changesOf(
  { url, types, shops, disabled }: Parameters<WebhookOperations['change']>[2],
  { nowMs, by }: { readonly nowMs: number; readonly by: WebhookKeeper },
): WebhookChanges {
  const disabledNow = disabled ? { atMs: nowMs, why: by } : null;
  return presentFields<WebhookChanges>({
    url,
    types,
    shops,
    disabled: disabled === undefined ? undefined : disabledNow,
  });
}

/** Returns the problems of an endpoint: a forbidden address, or shops that the tenant does not have. */
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
  const parsedUrl = new URL(url);
  const literal = parsedUrl.hostname.replace(/^\[|\]$/g, '');
  if (allowsHttp(url)) return [];
  if (parsedUrl.protocol !== 'https:') return [{ field: 'url', message: 'must use https' }];
  // `URL` leaves out the port of https. A name's addresses are checked at each delivery, as they may change.
  if (parsedUrl.port === '' && (isIP(literal) === 0 || guard.allows(literal, HTTPS_PORT))) return [];
  return [{ field: 'url', message: 'must be at a public address and port 443' }];
}

function shopProblems(shops: readonly string[] | null, state: TenantState): FieldProblem[] {
  return (shops ?? []).flatMap((shopId, index) => {
    if (state.shops.has(shopId)) return [];
    return { field: `shops.${index}`, message: 'must be the id of a shop of the tenant' };
  });
}
