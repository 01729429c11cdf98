import type { Outcome } from '../failure.ts';
import type { Shown } from '../replies/reply-fields.ts';
import type { freshWebhook, webhook, webhookAttempts } from '../replies/webhook-replies.ts';
import type { WebhookKeeper } from '../tenants/webhook-record.ts';

/** An endpoint as operators and its tenant see it: without its secret. */
export type WebhookView = Shown<typeof webhook>;

/** An endpoint with its secret, which is shown once. */
export type FreshWebhookView = Shown<typeof freshWebhook>;

/** An endpoint as requested. */
export interface WebhookDraft {
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly shops: readonly string[] | null;
}

/** One attempt as the API shows it. */
export type AttemptView = Shown<typeof webhookAttempts>['items'][number];

/**
 * Operations on a tenant's webhooks, for operators and for the tenant, on the node that owns the tenant. Missing things
 * fail with NOT_FOUND, a forbidden address with VALIDATION_ERROR. Rejects only with `RuntimeFailure`.
 */
export interface WebhookOperations {
  /**
   * Makes an endpoint. Only this and `rotateSecret` return the secret. Fails for a tenant with 20 endpoints
   * (WEBHOOK_LIMIT_REACHED), and for an operator if the tenant has 1,000 (CONFLICT).
   */
  create(tenantId: string, draft: WebhookDraft, by: WebhookKeeper): Promise<Outcome<FreshWebhookView>>;
  list(tenantId: string): Promise<Outcome<readonly WebhookView[]>>;
  read(tenantId: string, webhookId: string): Promise<Outcome<WebhookView>>;
  change(
    tenantId: string,
    webhookId: string,
    changes: { readonly [Field in keyof WebhookDraft]?: WebhookDraft[Field] | undefined } & {
      readonly disabled?: boolean | undefined;
    },
    by: WebhookKeeper,
  ): Promise<Outcome<WebhookView>>;
  remove(
    tenantId: string,
    webhookId: string,
  ): Promise<Outcome<{ readonly id: string; readonly deleted: true }>>;
  /** Replaces the secret. The old one also signs for 24 hours. */
  rotateSecret(tenantId: string, webhookId: string): Promise<Outcome<FreshWebhookView>>;
  /** Sends an event `webhook.test` once, also to a disabled endpoint. */
  test(
    tenantId: string,
    webhookId: string,
  ): Promise<Outcome<{ readonly status: number | null; readonly error: string | null }>>;
  /** Returns stored attempts, newest first, and the ids of undelivered events. */
  attempts(
    tenantId: string,
    webhookId: string,
    limit: number,
  ): Promise<Outcome<{ readonly items: readonly AttemptView[]; readonly deadLetters: readonly string[] }>>;
  /**
   * Sends events once more: the named ones, or the first 200 since a moment. Resolves once they are stored as due.
   * Fails with CONFLICT for a disabled endpoint, or if more than 400 events would wait.
   */
  replay(
    tenantId: string,
    webhookId: string,
    what: { readonly eventIds: readonly string[] } | { readonly sinceMs: number },
  ): Promise<Outcome<{ readonly replayed: number }>>;
}
