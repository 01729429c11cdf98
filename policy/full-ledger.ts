import type { EntryKind, LedgerEntry } from './ledger-entry.ts';
import { SETTINGS_RANGES } from './tenant-settings.ts';
import { DAILY_ROOF } from './warm-up.ts';

/**
 * Returns the entries of a shop that may send nothing more at `atMs`, under any warm-up and any settings of its tenant.
 * They replace a ledger that cannot be read. Each window frees up once it has passed.
 */
export function fullLedger(atMs: number): LedgerEntry[] {
  const entries = (kind: EntryKind, count: number, subject: number): LedgerEntry[] =>
    Array.from({ length: count }, () => ({ kind, atMs, subject, fingerprint: { high: 0, low: 0 } }));
  return [
    ...entries('known', DAILY_ROOF, 0),
    ...entries('group', 1, SETTINGS_RANGES.groupsPerDay.roof),
    ...entries('status', SETTINGS_RANGES.statusesPerDay.roof, 0),
  ];
}
