import type { FailureCode, Outcome } from '../failure.ts';
import type { ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { freshWebhook, webhook, webhookAttempts } from '../reply-schemas/webhook-schemas.ts';
import type { WebhookKeeper } from '../tenants/stored-webhooks/webhook-record.ts';

/** The most events that one replay sends. */
export const MOST_REPLAYED = 200;

/** An endpoint as operators and its tenant see it: without its secret. */
export type WebhookView = ReplyOf<typeof webhook>;

/** An endpoint with its secret, which is shown once. */
export type FreshWebhookView = ReplyOf<typeof freshWebhook>;

/** An endpoint as requested. */
export interface WebhookDraft {
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly shops: readonly string[] | null;
}

/** One attempt as the API shows it. */
export type AttemptView = ReplyOf<typeof webhookAttempts>['items'][number];

/** The code of the reply to a keeper who may add no more endpoints. */
export interface LimitCode {
  readonly tenant: 'WEBHOOK_LIMIT_REACHED';
  readonly operator: 'CONFLICT';
}

/** The outcome of an operation on a webhook. A missing tenant or webhook is a failure of each. */
export type WebhookOutcome<Value, Code extends FailureCode = never> = Outcome<Value, 'NOT_FOUND' | Code>;

/** The events to send again. */
export type ReplaySelection =
  | { readonly kind: 'events'; readonly eventIds: readonly string[] }
  | { readonly kind: 'since'; readonly sinceMs: number };

/**
 * Operations on a tenant's webhooks, for operators and for the tenant, on the node that owns the tenant. A forbidden
 * address is a `VALIDATION_ERROR`. Rejects only with `RuntimeFailure`.
 */
export interface WebhookOperations {
  /**
   * Makes an endpoint. Only this and `rotateSecret` return the secret. A tenant may have 20 endpoints
   * (`WEBHOOK_LIMIT_REACHED`). An operator may add more, up to 1,000 (`CONFLICT`).
   */
  create<By extends WebhookKeeper>(
    tenantId: string,
    draft: WebhookDraft,
    keeper: By,
  ): Promise<WebhookOutcome<FreshWebhookView, 'VALIDATION_ERROR' | 'OVERLOADED' | LimitCode[By]>>;
  list(tenantId: string): Promise<WebhookOutcome<readonly WebhookView[]>>;
  read(tenantId: string, webhookId: string): Promise<WebhookOutcome<WebhookView>>;
  /** Changes an endpoint. An empty list of shops is refused, unless it is stored: then it changes nothing. */
  change(
    tenantId: string,
    webhookId: string,
    changes: { readonly [Field in keyof WebhookDraft]?: WebhookDraft[Field] | undefined } & {
      readonly disabled?: boolean | undefined;
    },
    keeper: WebhookKeeper,
  ): Promise<WebhookOutcome<WebhookView, 'VALIDATION_ERROR' | 'CONFLICT'>>;
  remove(
    tenantId: string,
    webhookId: string,
  ): Promise<WebhookOutcome<{ readonly id: string; readonly deleted: true }>>;
  /** Replaces the secret. The old one also signs for 24 hours. */
  rotateSecret(tenantId: string, webhookId: string): Promise<WebhookOutcome<FreshWebhookView>>;
  /**
   * Sends an event `webhook.test` once, also to a disabled endpoint. Rejects with `NODE_BUSY` if no slot
   * for a test is free within two seconds.
   */
  test(
    tenantId: string,
    webhookId: string,
  ): Promise<WebhookOutcome<{ readonly status: number | null; readonly error: string | null }>>;
  /** Returns stored attempts, newest first, and the ids of undelivered events. */
  attempts(
    tenantId: string,
    webhookId: string,
    limit: number,
  ): Promise<
    WebhookOutcome<{ readonly items: readonly AttemptView[]; readonly deadLetters: readonly string[] }>
  >;
  /**
   * Sends events again: the named ones, or the first 200 since a moment. Resolves once they are stored as due.
   * `CONFLICT`: the endpoint is disabled, its tenant is not active, or more than 400 events would wait.
   */
  replay(
    tenantId: string,
    webhookId: string,
    selection: ReplaySelection,
  ): Promise<WebhookOutcome<{ readonly replayed: number }, 'CONFLICT'>>;
}
