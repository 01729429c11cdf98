import type { Actors } from '../../runtime/actors.ts';
import type { Store } from '../../runtime/store.ts';
import { type FailureCode, failed, type Outcome } from '../failure.ts';
import { isoOrNull } from '../iso-time.ts';
import { presentTenant } from '../tenants/committed-tenant.ts';
import { readProgress } from '../tenants/stored-webhooks/webhook-progress.ts';
import type { WebhookProgress, WebhookRecord } from '../tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import { forgiveFailures } from './progress.ts';
import type { WebhookOutcome, WebhookView } from './webhook-operations.ts';

/** Webhooks of tenants that are here. */
export interface WebhookAccess {
  /** Reads the progress of endpoints, by id; an endpoint that got no event yet has none. */
  readonly progressOf: (
    tenantId: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, WebhookProgress>>;
  readonly viewOf: (tenantId: string, webhook: WebhookRecord) => Promise<WebhookView>;
  /**
   * Returns the reply about a webhook, or `NOT_FOUND` if there is none. `isSent`: its tenant and itself are active, so
   * the webhook is sent events.
   */
  readonly withWebhook: <Value, Code extends FailureCode = never>(
    tenantId: string,
    webhookId: string,
    answer: (webhook: WebhookRecord, isSent: boolean) => Promise<Outcome<Value, Code>>,
  ) => Promise<WebhookOutcome<Value, Code>>;
}

/** Reads records from their tenants' actors, and the progress of each endpoint from the store. */
export function webhookAccess({
  actors,
  store,
}: {
  readonly actors: Actors;
  readonly store: Pick<Store, 'read'>;
}): WebhookAccess {
  const progressOf: WebhookAccess['progressOf'] = (tenantId, ids) =>
    readProgress(store, tenantKeys(tenantId).webhookProgress, ids);
  return {
    progressOf,
    viewOf: async (tenantId, webhook) =>
      webhookView(webhook, (await progressOf(tenantId, [webhook.id])).get(webhook.id)),
    async withWebhook(tenantId, webhookId, answer) {
      const tenant = await presentTenant(actors, tenantId);
      const webhook = tenant?.webhooks.get(webhookId);
      if (tenant === undefined || webhook === undefined) return failed('NOT_FOUND');
      return answer(webhook, tenant.record.active && webhook.disabled === null);
    },
  };
}

/** Returns the record and the progress of its endpoint, as tenants and operators see it. */
export function webhookView(webhook: WebhookRecord, progress: WebhookProgress | undefined): WebhookView {
  const { id, url, types, shops, createdAtMs, disabled, former } = webhook;
  return {
    id,
    url,
    types,
    shops,
    createdAt: new Date(createdAtMs).toISOString(),
    disabledAt: isoOrNull(disabled?.atMs),
    disabledBy: disabled?.why ?? null,
    formerSecretUntil: isoOrNull(former?.untilMs),
    failingSince: isoOrNull(progress && forgiveFailures(progress, webhook).failingSinceMs),
    waiting: progress?.retries.length ?? 0,
    deadLetters: progress?.dead.length ?? 0,
    missedUntil: isoOrNull(progress?.missedUntilMs),
  };
}
