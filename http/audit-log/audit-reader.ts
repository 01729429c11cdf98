import type { CursorPage } from '../../actors/reply-schemas/reply-fields.ts';
import type { Store } from '../../runtime/store.ts';
import { erasedMark } from '../request-log/request-log-keys.ts';
import type { AuditEntry, AuditLogQuery, Change } from './audit-entry.ts';

/** Keys of the log in Redis. They share a hash tag, because one script uses them all. */
export const AUDIT_KEYS = {
  /** Ids in the order of time: Redis's milliseconds, then an object id. Their order as texts is the same. */
  order: '{audit}:order',
  entries: '{audit}:entries',
  outcomes: '{audit}:outcomes',
  /** Digests of erased ids, with the time as score. */
  erased: '{audit}:erased',
} as const;

/** The id of an entry, which is its cursor too. */
export const AUDIT_CURSOR = /^\d{13}-[0-9a-f]{24}$/;

/** Most entries that one call reads before it returns the matches. */
const MOST_SCANNED = 5_000;
/** Entries that are read at a time. */
const READ_AT_A_TIME = 200;

/** Lists changes, newest first. */
export async function listChanges(
  store: Pick<Store, 'read'>,
  query: AuditLogQuery,
): Promise<CursorPage<AuditEntry>> {
  const items: AuditEntry[] = [];
  let lastId = query.cursor;
  for (let scannedCount = 0; scannedCount < MOST_SCANNED; scannedCount += READ_AT_A_TIME) {
    const { entries, isAtEnd } = await entriesBefore(store, lastId);
    for (const entry of entries) {
      if (query.afterMs !== undefined && Date.parse(entry.at) <= query.afterMs)
        return { items, nextCursor: null };
      if (items.length === query.limit) return { items, nextCursor: lastId ?? null };
      lastId = entry.id;
      if (matchesQuery(entry, query)) items.push(entry);
    }
    if (isAtEnd) return { items, nextCursor: null };
  }
  return { items, nextCursor: lastId ?? null };
}

/** Returns the next entries. `isAtEnd`: there are no more after them. */
async function entriesBefore(
  store: Pick<Store, 'read'>,
  lastId: string | undefined,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly isAtEnd: boolean }> {
  const fromId = lastId === undefined ? '+' : `(${lastId}`;
  const { order, entries: entriesKey, outcomes } = AUDIT_KEYS;
  const [ids] = await store.read([
    ['ZRANGE', order, fromId, '-', 'BYLEX', 'REV', 'LIMIT', 0, READ_AT_A_TIME],
  ]);
  if (ids.length === 0) return { entries: [], isAtEnd: true };
  const [changes, ends] = await store.read([
    ['HMGET', entriesKey, ...ids],
    ['HMGET', outcomes, ...ids],
  ]);
  // An entry that was removed between the two reads is left out.
  const entries = ids.flatMap((id, index) => {
    const change = changes[index] ?? undefined;
    return change === undefined ? [] : [entryOf(id, JSON.parse(change) as Change, ends[index] ?? undefined)];
  });
  return { entries, isAtEnd: ids.length < READ_AT_A_TIME };
}

function entryOf(id: string, change: Change, outcome: string | undefined): AuditEntry {
  const [status = null, code = null] = outcome?.split(' ') ?? [];
  const at = new Date(Number.parseInt(id, 10)).toISOString();
  return { id, at, ...change, status: status === null ? null : Number(status), code };
}

function matchesQuery(entry: AuditEntry, query: AuditLogQuery): boolean {
  const { tenantId } = entry.params;
  return (
    (query.operator === undefined || entry.operator === query.operator) &&
    (query.tenantId === undefined ||
      tenantId === query.tenantId ||
      tenantId === erasedMark(query.tenantId)) &&
    (query.route === undefined || entry.route === query.route) &&
    (query.status === undefined || entry.status === query.status)
  );
}
