import * as v from 'valibot';
import type { CursorPage, ReplyOf } from '../../actors/reply-schemas/reply-fields.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Store } from '../../runtime/store.ts';
import { decodePosition, encodePosition, order, type Position } from './request-log-cursor.ts';
import { type RequestLogEntry, unpackEntries } from './request-log-entry.ts';
import { REQUEST_LOG_INDEX, requestLogKeys, scoredMembers } from './request-log-keys.ts';

export interface RequestLogQuery {
  readonly tenantId: string | undefined;
  readonly status: number | undefined;
  readonly route: string | undefined;
  readonly code: string | undefined;
  /** True if only refusals are listed. */
  readonly mustBeRefused: boolean;
  /** Only requests that were answered after this, in milliseconds since the Unix epoch. */
  readonly afterMs: number | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * Refused calls of a tenant, counted by code, the newest first. `since` is the requested time, or later if the log is
 * too full to be counted that far back. `route` is that of the last refusal.
 */
export const refusalCount = v.strictObject({
  since: v.string(),
  items: v.array(
    v.strictObject({ code: v.string(), calls: v.number(), lastAt: v.string(), route: v.string() }),
  ),
});

export type RefusalCount = ReplyOf<typeof refusalCount>;

interface FoundEntry {
  readonly position: Position;
  readonly entry: RequestLogEntry;
}

/** Most entries that one call reads before it returns the matches. */
const MOST_SCANNED = 20_000;
const TICKS_PER_READ = 50;
/** Node clocks and Redis's may differ by this much before `after` cuts a log short. */
const CLOCK_SLACK_MS = MINUTE_MS;

/** Reads how many calls of a tenant were refused since a time, by code. */
export async function readRefusals(
  store: Pick<Store, 'read'>,
  tenantId: string,
  afterMs: number,
): Promise<RefusalCount> {
  const byCode = new Map<string, { code: string; calls: number; lastAt: string; route: string }>();
  let sinceMs = afterMs;
  let scannedCount = 0;
  for await (const { entry } of entriesOf(store, tenantId, undefined)) {
    const atMs = Date.parse(entry.at);
    if (atMs < afterMs - CLOCK_SLACK_MS) break;
    if (scannedCount === MOST_SCANNED) {
      sinceMs = atMs;
      break;
    }
    scannedCount += 1;
    if (atMs < afterMs || entry.status < 400) continue;
    const code = entry.code ?? String(entry.status);
    const countOfCode = byCode.get(code);
    if (countOfCode === undefined) byCode.set(code, { code, calls: 1, lastAt: entry.at, route: entry.route });
    else countOfCode.calls += 1;
  }
  return { since: new Date(sinceMs).toISOString(), items: [...byCode.values()] };
}

/** Lists requests of all tenants or of one, merged by time, newest first. */
export async function listRequests(
  store: Pick<Store, 'read'>,
  query: RequestLogQuery,
): Promise<CursorPage<RequestLogEntry>> {
  const positionBefore = query.cursor === undefined ? undefined : decodePosition(query.cursor);
  const items: RequestLogEntry[] = [];
  let lastPosition: Position | undefined;
  let scannedCount = 0;
  for await (const { position, entry } of mergeLogs(
    store,
    await logsOf(store, query.tenantId),
    positionBefore,
  )) {
    if (query.afterMs !== undefined && position.ms < query.afterMs - CLOCK_SLACK_MS) return end(items);
    if (items.length === query.limit || scannedCount === MOST_SCANNED)
      return { items, nextCursor: lastPosition === undefined ? null : encodePosition(lastPosition) };
    scannedCount += 1;
    lastPosition = position;
    if (matchesQuery(entry, query)) items.push(entry);
  }
  return end(items);
}

function end(items: readonly RequestLogEntry[]): CursorPage<RequestLogEntry> {
  return { items, nextCursor: null };
}

function matchesQuery(entry: RequestLogEntry, query: RequestLogQuery): boolean {
  return (
    (query.status === undefined || entry.status === query.status) &&
    (query.route === undefined || entry.route === query.route) &&
    (query.code === undefined || entry.code === query.code) &&
    (!query.mustBeRefused || entry.status >= 400) &&
    (query.afterMs === undefined || Date.parse(entry.at) > query.afterMs)
  );
}

interface Log {
  readonly logName: string;
  /** No entry of the log is newer than this, in milliseconds. */
  readonly newestMs: number;
}

async function logsOf(store: Pick<Store, 'read'>, tenantId: string | undefined): Promise<Log[]> {
  if (tenantId !== undefined) return [{ logName: tenantId, newestMs: Number.POSITIVE_INFINITY }];
  const [rows] = await store.read([['ZREVRANGE', REQUEST_LOG_INDEX, 0, -1, 'WITHSCORES']]);
  return scoredMembers(rows).map(([logName, newestMs]) => ({ logName, newestMs }));
}

/** Yields all entries of the logs, newest first. A log is opened only when the open ones have nothing newer. */
async function* mergeLogs(
  store: Pick<Store, 'read'>,
  logs: readonly Log[],
  positionBefore: Position | undefined,
): AsyncGenerator<FoundEntry> {
  const heads: { newestEntry: FoundEntry; rest: AsyncGenerator<FoundEntry> }[] = [];
  let next = 0;
  for (;;) {
    const newestOfAll = heads.reduce(
      (newestHead, head) => (isNewer(head.newestEntry, newestHead?.newestEntry) ? head : newestHead),
      heads[0],
    );
    const logToOpen = logs[next];
    if (
      logToOpen !== undefined &&
      (newestOfAll === undefined || logToOpen.newestMs >= newestOfAll.newestEntry.position.ms)
    ) {
      next += 1;
      const entries = entriesOf(store, logToOpen.logName, positionBefore);
      const first = await entries.next();
      if (first.done !== true) heads.push({ newestEntry: first.value, rest: entries });
      continue;
    }
    if (newestOfAll === undefined) return;
    yield newestOfAll.newestEntry;
    const following = await newestOfAll.rest.next();
    if (following.done === true) heads.splice(heads.indexOf(newestOfAll), 1);
    else newestOfAll.newestEntry = following.value;
  }
}

async function* entriesOf(
  store: Pick<Store, 'read'>,
  logName: string,
  positionBefore: Position | undefined,
): AsyncGenerator<FoundEntry> {
  const [log] = requestLogKeys(logName);
  // Two logs may have ticks of the same id, so each log's tick with the cursor's id is read once more.
  let fromId = positionBefore === undefined ? '+' : `${positionBefore.ms}-${positionBefore.sequence}`;
  for (;;) {
    const [ticks] = await store.read([['XREVRANGE', log, fromId, '-', 'COUNT', TICKS_PER_READ]]);
    for (const [id, fields] of ticks) {
      const [ms = 0, sequence = 0] = id.split('-').map(Number);
      const entries = unpackEntries(logName, fields[3] ?? '');
      for (let index = entries.length - 1; index >= 0; index -= 1) {
        const position = { ms, sequence, logName, index };
        const entry = entries[index];
        if (entry === undefined || (positionBefore !== undefined && order(position, positionBefore) >= 0))
          continue;
        yield { position, entry };
      }
      fromId = `(${id}`;
    }
    if (ticks.length < TICKS_PER_READ) return;
  }
}

function isNewer(left: FoundEntry, right: FoundEntry | undefined): boolean {
  return right !== undefined && order(left.position, right.position) > 0;
}
