import type { RateLimits } from '../../policy/limits/key-limits.ts';
import type { PlanName } from '../../policy/plan.ts';
import type { SettingsTuning } from '../../policy/tenant-settings.ts';
import { type InboundMode, inboundModeOf } from '../inbound-mode.ts';
import { isoOrNull } from '../iso-time.ts';
import type { Permission } from '../permission.ts';
import type { ShopView } from './tenant-operations.ts';
import type { KeyView, TenantView } from './tenant-view.ts';

/** A tenant as it is stored. Times in milliseconds since the Unix epoch. */
export interface TenantRecord {
  readonly version: 1;
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly active: boolean;
  /** The owner's notification number has a separate key, since the first connection may set it. */
  readonly owner: { readonly name: string } | null;
  readonly settings: SettingsTuning;
  readonly poolFallback: boolean;
  readonly platform: boolean;
  /** The tenant's inbound mode. Absent if 0.1.0 stored the record. */
  readonly inbound?: InboundMode;
  readonly createdAtMs: number;
  /** True once its erasure was decided. No look-up finds it any more, and the record is removed after its shops. */
  readonly deleted: boolean;
}

/** An API key as it is stored: its SHA-256 and never its value. */
export interface ApiKeyRecord {
  readonly id: string;
  /** SHA-256 of the raw key, hex. */
  readonly hash: string;
  /**
   * Hashes of the values that rotation replaced, newest first, at most `RETIRED_HASHES`. A caller that still uses one
   * gets API_KEY_REVOKED. Absent if it was never rotated, or only by 0.1.0.
   */
  readonly retiredHashes?: readonly string[];
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAtMs: number | null;
  readonly ipAllowlist: readonly string[];
  readonly limits: RateLimits;
  readonly createdAtMs: number;
  readonly rotatedAtMs: number | null;
  readonly revokedAtMs: number | null;
}

/** A shop as its tenant stores it. */
export interface ShopRecord {
  readonly id: string;
  readonly name: string;
  readonly phone: string | null;
  readonly createdAtMs: number;
  /** The idempotency key with which it was made. Absent if there was none, or 0.1.0 made it. */
  readonly idempotencyKey?: string;
}

/** Returns the tenant as operators see it. */
export function tenantView(record: TenantRecord, ownerNumber: string | null): TenantView {
  const { id, name, plan, active, owner, settings, poolFallback, platform, createdAtMs } = record;
  return {
    id,
    name,
    plan,
    active,
    owner: owner && { name: owner.name, notificationNumber: ownerNumber },
    settings,
    poolFallback,
    platform,
    inbound: inboundModeOf(record),
    createdAt: new Date(createdAtMs).toISOString(),
  };
}

/** Returns the key as operators see it, without its hash. */
export function keyView(key: ApiKeyRecord): KeyView {
  const { id, name, permissions, expiresAtMs, ipAllowlist, limits, createdAtMs, rotatedAtMs, revokedAtMs } =
    key;
  return {
    id,
    name,
    permissions,
    expiresAt: isoOrNull(expiresAtMs),
    ipAllowlist,
    limits,
    createdAt: new Date(createdAtMs).toISOString(),
    rotatedAt: isoOrNull(rotatedAtMs),
    revokedAt: isoOrNull(revokedAtMs),
  };
}

/** Returns the shop as the API shows it. */
export function shopView(shop: ShopRecord, msgapp: ShopView['channelStatus']['msgapp']): ShopView {
  const { id, name, phone, createdAtMs } = shop;
  return { id, name, phone, channelStatus: { msgapp }, createdAt: new Date(createdAtMs).toISOString() };
}
