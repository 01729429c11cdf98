import type { RateLimits } from '../../policy/limits/key-limits.ts';
import type { PlanName } from '../../policy/plan.ts';
import type { SettingsTuning } from '../../policy/tenant-settings.ts';
import type { InboundMode } from '../inbound-mode.ts';
import type { Permission } from '../permission.ts';
import type { freshKey, key } from '../replies/account-replies.ts';
import type { Shown } from '../replies/reply-fields.ts';

/** The owner of a tenant's account, and the number for its notifications (E.164). */
export interface TenantOwner {
  readonly name: string;
  readonly notificationNumber: string | null;
}

/** An owner as operators give it. An absent number stays, null removes it. */
interface OwnerChange extends Pick<TenantOwner, 'name'> {
  readonly notificationNumber?: string | null | undefined;
}

/** A tenant as operators see it. Times are ISO 8601 in UTC. */
export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly active: boolean;
  readonly owner: TenantOwner | null;
  /** Only the settings that differ from the defaults. */
  readonly settings: SettingsTuning;
  readonly poolFallback: boolean;
  readonly platform: boolean;
  /** The tenant's inbound mode. */
  readonly inbound: InboundMode;
  readonly createdAt: string;
}

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
export type KeyView = Shown<typeof key>;

/** A key with its value, which is shown once. */
export type FreshKeyView = Shown<typeof freshKey>;

/** The input for a new key, valid in shape. */
export interface KeyDraft {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: string | null;
  readonly ipAllowlist: readonly string[];
  readonly limits: RateLimits;
}
