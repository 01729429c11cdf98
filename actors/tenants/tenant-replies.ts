import type { KeyLimits } from '../../policy/limits/key-limits.ts';
import type { DeclarationPolicyCode } from '../../policy/refusal.ts';
import type { Turn } from '../../runtime/behaviour.ts';
import type { Outcome } from '../failure.ts';
import type { ContactRecord } from './contact-record.ts';
import type { WebhookProgress, WebhookRecord } from './stored-webhooks/webhook-record.ts';
import type { TenantCommand, TenantCommandOf, TenantEffect } from './tenant-commands.ts';
import type { ContactView, MadeShop, RevokedContactView, ShopCreationCode } from './tenant-operations.ts';
import type { TenantState } from './tenant-state.ts';
import type { KeyView, TenantView } from './tenant-view.ts';

/**
 * The reply of a tenant's actor to each command that has one. Both the turn that makes a reply and the caller that asks
 * for it are checked against it. A tenant that is deleted or does not exist may answer any of them with `NO_TENANT`.
 */
export interface TenantReplies {
  readonly create_shop: Outcome<MadeShop, Exclude<ShopCreationCode, 'API_KEY_INVALID'>>;
  readonly declare: Outcome<
    { readonly accepted: number; readonly contacts: readonly ContactView[] },
    DeclarationPolicyCode
  >;
  readonly revoke_contact: Outcome<RevokedContactView, never>;
  readonly change: Outcome<TenantView, 'VALIDATION_ERROR'>;
  readonly add_customers: Outcome<{ readonly added: number }, never>;
  readonly remove_customers: Outcome<{ readonly removed: number }, never>;
  readonly put_key: Outcome<KeyView, never>;
  readonly rotate_key: Outcome<KeyView, 'NOT_FOUND' | 'CONFLICT'>;
  readonly revoke_key: Outcome<KeyView, 'NOT_FOUND'>;
  readonly put_webhook: Outcome<WebhookRecord, 'WEBHOOK_LIMIT_REACHED' | 'CONFLICT'>;
  readonly change_webhook: Outcome<WebhookRecord, 'NOT_FOUND'>;
  readonly rotate_webhook_secret: Outcome<WebhookRecord, 'NOT_FOUND'>;
  readonly disable_webhook: Outcome<WebhookRecord, 'NOT_FOUND'>;
  readonly delete_webhook: Outcome<{ readonly id: string; readonly deleted: true }, 'NOT_FOUND'>;
  readonly webhook_progress: Outcome<true, 'NOT_FOUND'>;
  readonly delete_shop: Outcome<true, 'NOT_FOUND'>;
  readonly delete_tenant: Outcome<true, never>;
  readonly erase_person: Outcome<true, 'NOT_FOUND'>;
  readonly person_erased: Outcome<true, never>;
  readonly erase_progress: Outcome<true, never>;
  readonly shop_erased: Outcome<true, never>;
  /** `CONFLICT`: a shop of the tenant is not erased yet. */
  readonly tenant_erased: Outcome<true, 'CONFLICT'>;
}

/** A turn that decides a command of the type. Its reply is checked. */
export type TenantTurn<Type extends TenantCommand['type']> = Turn<TenantState, TenantEffect> &
  (Type extends keyof TenantReplies
    ? { readonly reply: TenantReplies[Type] }
    : { readonly reply?: undefined });

/** Stored data about the numbers of a command, for the commands that need it. */
export interface TenantFacts {
  readonly contacts: ReadonlyMap<string, ContactRecord>;
  readonly customers: ReadonlySet<string>;
  /** True if the person to be erased has an id. By default false. */
  readonly isKnown?: boolean;
  /** Stored progress of the endpoints that `erase_progress` names, by webhook id. Absent if there is none. */
  readonly progress?: ReadonlyMap<string, WebhookProgress>;
}

/** The inputs of a turn in addition to state and command. */
export interface TurnInputs {
  readonly nowMs: number;
  readonly facts: TenantFacts;
  readonly keyLimits: KeyLimits;
  readonly makeId: (nowMs: number) => string;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
}

/** The turns that decide commands. The compiler requires one for each type, with the right reply. */
export type TenantTurns = {
  readonly [Type in TenantCommand['type']]: (
    state: TenantState,
    command: TenantCommandOf<Type>,
    inputs: TurnInputs,
  ) => TenantTurn<Type>;
};
