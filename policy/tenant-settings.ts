/** The settings of a tenant as the policy uses them, every default filled in (docs/contract.md, Settings). */
export interface TenantSettings {
  /** `null`: derived from the warm-up's daily cap. */
  readonly coldPerDay: number | null;
  readonly declaredPerDay: number;
  /** Shares, one for every `GROUP_SIZE_UNIT` participants. */
  readonly groupsPerDay: number;
  readonly groupPerRecipient24h: number;
  readonly statusesPerDay: number;
}

/** A tenant's own settings; a setting that is absent or `null` has its default. */
export type SettingsTuning = { readonly [name in keyof TenantSettings]?: number | null | undefined };

/** A refused setting: its name, and the values that it may have. */
export interface SettingsProblem {
  readonly field: string;
  readonly message: string;
}

interface SettingRange {
  readonly default: number | null;
  readonly floor: number;
  readonly roof: number;
}

/** The platform's minimum and maximum of each setting, both allowed (docs/contract.md, Settings). */
export const SETTINGS_RANGES = {
  coldPerDay: { default: null, floor: 1, roof: 50 },
  declaredPerDay: { default: 30, floor: 0, roof: 200 },
  groupsPerDay: { default: 20, floor: 1, roof: 100 },
  groupPerRecipient24h: { default: 2, floor: 1, roof: 5 },
  statusesPerDay: { default: 10, floor: 1, roof: 30 },
} as const satisfies { readonly [name in keyof TenantSettings]: SettingRange };

/**
 * Returns all problems of a tuning; none if it may be stored. A value outside its range is refused, not clamped
 * (docs/contract.md, Settings). `null` is fine: it means back to the default.
 */
export function checkSettings(input: unknown): readonly SettingsProblem[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [{ field: 'settings', message: 'must be an object' }];
  return Object.entries(input).flatMap(([field, value]) => {
    if (!isSettingName(field)) return [{ field, message: 'is not a setting' }];
    const { floor, roof } = SETTINGS_RANGES[field];
    const isFine =
      value === null ||
      value === undefined ||
      (typeof value === 'number' && Number.isInteger(value) && value >= floor && value <= roof);
    return isFine ? [] : [{ field, message: `must be a whole number from ${floor} to ${roof}` }];
  });
}

/** Returns the tuning with defaults filled in. Throws a `RangeError` for a tuning with a problem. */
export function resolveSettings(tuning: SettingsTuning): TenantSettings {
  const [problem] = checkSettings(tuning);
  if (problem !== undefined) throw new RangeError(`${problem.field} ${problem.message}`);
  return {
    coldPerDay: tuning.coldPerDay ?? SETTINGS_RANGES.coldPerDay.default,
    declaredPerDay: tuning.declaredPerDay ?? SETTINGS_RANGES.declaredPerDay.default,
    groupsPerDay: tuning.groupsPerDay ?? SETTINGS_RANGES.groupsPerDay.default,
    groupPerRecipient24h: tuning.groupPerRecipient24h ?? SETTINGS_RANGES.groupPerRecipient24h.default,
    statusesPerDay: tuning.statusesPerDay ?? SETTINGS_RANGES.statusesPerDay.default,
  };
}

function isSettingName(field: string): field is keyof TenantSettings {
  return Object.hasOwn(SETTINGS_RANGES, field);
}
