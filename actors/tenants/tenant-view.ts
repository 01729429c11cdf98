import type { RateLimits } from '../../policy/limits/key-limits.ts';
import type { PlanName } from '../../policy/plan.ts';
import type { SettingsTuning } from '../../policy/tenant-settings.ts';
import type { InboundMode } from '../inbound-mode.ts';
import type { Permission } from '../permission.ts';
import type { freshKey, key } from '../reply-schemas/account-schemas.ts';
import type { tenant } from '../reply-schemas/operator-schemas.ts';
import type { ReplyOf } from '../reply-schemas/reply-fields.ts';

/** The owner of a tenant's account as operators give it. An absent value stays; a number (E.164) of null is removed. */
interface OwnerChange {
  readonly name?: string | undefined;
  readonly notificationNumber?: string | null | undefined;
}

/** A tenant as operators see it. */
export type TenantView = ReplyOf<typeof tenant>;

/** Values to set at creation or later. If absent, unchanged (defaults at creation). */
export interface TenantChanges {
  readonly name?: string | undefined;
  readonly plan?: PlanName | undefined;
  readonly active?: boolean | undefined;
  readonly owner?: OwnerChange | null | undefined;
  /**
   * Merged per setting; null returns one to its default. A value below the minimum or above the maximum fails with
   * VALIDATION_ERROR.
   */
  readonly settings?: SettingsTuning | undefined;
  readonly poolFallback?: boolean | undefined;
  readonly platform?: boolean | undefined;
  readonly inbound?: InboundMode | undefined;
}

/** A key as operators see it; never its value. */
export type KeyView = ReplyOf<typeof key>;

/** A key with its value, which is shown once. */
export type FreshKeyView = ReplyOf<typeof freshKey>;

/** The input for a new key, valid in shape. */
export interface KeyDraft {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: string | null;
  readonly ipAllowlist: readonly string[];
  readonly limits: RateLimits;
}
