import { checkSettings, type SettingsTuning } from '../../policy/tenant-settings.ts';
import { type Failed, failed } from '../failure.ts';
import { inboundModeOf } from '../inbound-mode.ts';
import type { TenantRecord } from './tenant-record.ts';
import type { TenantChanges } from './tenant-view.ts';

/** Returns the reason why these settings are refused. Undefined if all of them are in range. */
export function settingsRefusal({ settings = {} }: TenantChanges): Failed<'VALIDATION_ERROR'> | undefined {
  const problems = checkSettings(settings);
  if (problems.length === 0) return undefined;
  const fields = problems.map(({ field, message }) => ({ field: `settings.${field}`, message }));
  return failed('VALIDATION_ERROR', { fields });
}

/** Returns a record with the changes. Absent fields stay. A field of the changes without a line does not compile. */
export function changedRecord(record: TenantRecord, changes: TenantChanges): TenantRecord {
  const ownerName = changes.owner?.name;
  const owner = ownerName === undefined ? record.owner : { name: ownerName };
  const changedFields: Required<Pick<TenantRecord, keyof TenantChanges>> = {
    name: changes.name ?? record.name,
    plan: changes.plan ?? record.plan,
    active: changes.active ?? record.active,
    poolFallback: changes.poolFallback ?? record.poolFallback,
    platform: changes.platform ?? record.platform,
    inbound: changes.inbound ?? inboundModeOf(record),
    owner: changes.owner === null ? null : owner,
    settings: withoutAbsent({ ...record.settings, ...changes.settings }),
  };
  return { ...record, ...changedFields };
}

/** A setting that was returned to its default is not stored. */
function withoutAbsent(settings: SettingsTuning): SettingsTuning {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null && value !== undefined),
  ) as SettingsTuning;
}
