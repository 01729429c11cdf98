import type { Lane, RuntimeCommand } from '../../runtime/behaviour.ts';
import type { InboundMode } from '../inbound-mode.ts';
import type {
  WebhookAttempt,
  WebhookChanges,
  WebhookEnd,
  WebhookKeeper,
  WebhookProgress,
  WebhookRecord,
} from './stored-webhooks/webhook-record.ts';
import type { DeclaredContact, ShopDraft } from './tenant-operations.ts';
import type { ApiKeyRecord } from './tenant-record.ts';
import type { TenantChanges } from './tenant-view.ts';

/**
 * The commands of a tenant's actor. Dead letters store those of the lane `client`, a week by default. So their fields
 * keep their names.
 */
export type TenantCommand =
  | (ShopDraft & {
      readonly type: 'create_shop';
      readonly imported: boolean;
      readonly idempotencyKey: string | undefined;
    })
  | { readonly type: 'declare'; readonly contacts: readonly DeclaredContact[] }
  | { readonly type: 'revoke_contact'; readonly phone: string }
  | { readonly type: 'change'; readonly changes: TenantChanges }
  | { readonly type: 'add_customers'; readonly phones: readonly string[] }
  | { readonly type: 'remove_customers'; readonly phones: readonly string[] }
  | { readonly type: 'put_key'; readonly key: ApiKeyRecord }
  | {
      readonly type: 'rotate_key';
      readonly keyId: string;
      readonly hash: string;
      readonly forgotten: readonly string[];
    }
  | { readonly type: 'revoke_key'; readonly keyId: string }
  | { readonly type: 'put_webhook'; readonly webhook: WebhookRecord; readonly by: WebhookKeeper }
  | { readonly type: 'change_webhook'; readonly webhookId: string; readonly changes: WebhookChanges }
  | {
      readonly type: 'rotate_webhook_secret';
      readonly webhookId: string;
      /** The new one, sealed. */
      readonly secret: string;
      /** The sealed secret that no configured key opens, so that it signs nothing any more. Null if none is known. */
      readonly unreadable: string | null;
    }
  | {
      readonly type: 'disable_webhook';
      readonly webhookId: string;
      /** `enabledAtMs` of the endpoint that the decision is about. */
      readonly enabledAtMs: number;
      /** The reason. A dead letter stores the command, so the field keeps its name. */
      readonly why: Exclude<WebhookEnd, WebhookKeeper>;
    }
  | { readonly type: 'delete_webhook'; readonly webhookId: string }
  | {
      readonly type: 'webhook_progress';
      /** The loading of the tenant for which the endpoint is sent events. */
      readonly loading: symbol;
      readonly webhookId: string;
      readonly progress: WebhookProgress;
      readonly attempts: readonly WebhookAttempt[];
    }
  | { readonly type: 'delete_shop'; readonly shopId: string }
  | { readonly type: 'delete_tenant' }
  | { readonly type: 'erase_person'; readonly personId: string }
  /** All data of the person is erased from the store. */
  | { readonly type: 'person_erased'; readonly personId: string }
  /** Entries of erased shops are removed from the progress of these webhooks. */
  | { readonly type: 'erase_progress'; readonly webhookIds: readonly string[] }
  /** All data of the shop is erased from the store. */
  | { readonly type: 'shop_erased'; readonly shopId: string }
  /** The store has no data of the tenant left, except in its own keys. */
  | { readonly type: 'tenant_erased' }
  /** A shop's commit may have set the owner's number. */
  | { readonly type: 'owner_number'; readonly phone: string }
  /** Windows and quota that changed since the last second are to be stored. */
  | { readonly type: 'store_usage' }
  | RuntimeCommand;

export type TenantCommandOf<Type extends TenantCommand['type']> = Extract<
  TenantCommand,
  { readonly type: Type }
>;

/** The fields of a command, without its type. */
export type TenantFieldsOf<Type extends TenantCommand['type']> = Omit<TenantCommandOf<Type>, 'type'>;

/** The lane of each command. A `client` command may be refused if the mailbox is full. */
export const TENANT_LANES: Readonly<Record<TenantCommand['type'], Lane>> = {
  create_shop: 'client',
  declare: 'client',
  revoke_contact: 'client',
  change: 'client',
  add_customers: 'client',
  remove_customers: 'client',
  put_key: 'client',
  rotate_key: 'client',
  revoke_key: 'client',
  put_webhook: 'client',
  change_webhook: 'client',
  rotate_webhook_secret: 'client',
  disable_webhook: 'client',
  delete_webhook: 'client',
  webhook_progress: 'control',
  delete_shop: 'client',
  delete_tenant: 'client',
  erase_person: 'client',
  person_erased: 'control',
  erase_progress: 'control',
  shop_erased: 'control',
  tenant_erased: 'control',
  owner_number: 'control',
  store_usage: 'control',
  timer: 'control',
};

/** A change of the tenant's record that its shops take as a command. */
export type ShopNotice =
  | { readonly type: 'tenant_active'; readonly isActive: boolean }
  | { readonly type: 'tenant_inbound'; readonly inbound: InboundMode };

/** The effects of a tenant's turn, carried out once its commit succeeds. */
export type TenantEffect =
  /** Starts the unfinished erasures: shops of the tenant, people who wrote to them, or all of it. */
  | { readonly type: 'erase' }
  /**
   * Ends the waits for the tenant's events, because the tenant leaves this node or may call no more. With `keyId` it
   * ends the waits of that key only, because the key may call no more.
   */
  | { readonly type: 'end_waits'; readonly keyId?: string }
  /** The endpoints that get the tenant's events from now on. None if the tenant is not active. */
  | {
      readonly type: 'webhooks_changed';
      readonly webhooks: ReadonlyMap<string, WebhookRecord>;
      readonly loading: symbol;
    }
  /** The service disabled these endpoints, and no keeper did. */
  | {
      readonly type: 'webhooks_disabled';
      readonly webhookIds: readonly string[];
      readonly reason: Exclude<WebhookEnd, WebhookKeeper>;
    }
  | { readonly type: 'notify_shops'; readonly shopIds: readonly string[]; readonly notice: ShopNotice }
  | { readonly type: 'announce_tenant' }
  | { readonly type: 'announce_shop'; readonly shopId: string };
