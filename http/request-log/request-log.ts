import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Logger } from '../../runtime/logger.ts';
import { readLuaScript } from '../../runtime/lua-script.ts';
import type { RedisCommand, Store } from '../../runtime/store.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';
import { NOBODY, packEntry } from './request-log-entry.ts';
import {
  erasedMark,
  REQUEST_LOG_BYTES,
  REQUEST_LOG_ERASED,
  REQUEST_LOG_INDEX,
  requestLogKeys,
  scoredMembers,
} from './request-log-keys.ts';

/** Limits of the log (docs/contract.md, Retention). */
export interface RequestLogLimits {
  readonly maxEntriesPerTenant: number;
  readonly maxAgeMs: number;
  /** Limit for all tenants together. */
  readonly maxBytes: number;
}

/** If the log holds so many entries that are not in Redis yet, further ones are dropped and counted. */
const MOST_HELD = 50_000;
const RETRY_AFTER_MS = 500;
/** Time in which entries are collected into one write. A write to Redis costs more than the rest of a request. */
const GATHER_MS = 200;
/**
 * Interval at which the size of all logs is compared with `maxBytes`, and most ticks that one trimming call removes.
 */
const SIZE_CHECK_EVERY_MS = MINUTE_MS;
const TICKS_PER_TRIM = 1_000;

const APPEND_SCRIPT = readLuaScript(new URL('./append-requests.lua', import.meta.url));
const TRIM_SCRIPT = readLuaScript(new URL('./trim-requests.lua', import.meta.url));

/** The id of the stream's new entry, and the bytes that the log has now. */
type AppendReply = readonly [id: string, bytes: number];

interface RequestLogOptions {
  readonly store: Pick<Store, 'read' | 'append'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: RequestLogLimits;
}

/**
 * Writes the request log. Requests answered within `GATHER_MS` go to Redis in one round trip, with one command a
 * tenant. A failed write is retried until it succeeds. An entry is lost with the process, or if `MOST_HELD` others
 * are not written yet. It may be in the log twice, if Redis stored it and the answer was lost.
 */
export class RequestLog {
  readonly #options: RequestLogOptions;
  /** Packed entries by tenant, without those that are being written. */
  #waiting = new Map<string, string[]>();
  /** The logs whose last entries are in Redis, but not yet in the index. */
  readonly #unindexed = new Map<string, AppendReply>();
  /** Entries that wait or are being written. A refused batch waits again, so its entries count all the time. */
  #heldCount = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  /** The timer of the next write, or of the write that runs. */
  #timer: ArmedTimer | undefined;
  #isClosed = false;
  #sizeCheck: ArmedTimer;
  /** True if Redis refused the last batch. Each outage is logged once. */
  #isAway = false;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.#sizeCheck = this.#armSizeCheck();
  }

  /** The number of entries that were dropped because Redis was away for too long. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Records an entry. Never waits and never throws. */
  record(request: AnsweredRequest): void {
    if (this.#heldCount >= MOST_HELD) {
      this.#dropped += 1;
      return;
    }
    const logName = request.tenantId ?? NOBODY;
    const waitingEntries = this.#waiting.get(logName);
    const packedEntry = packEntry(request);
    if (waitingEntries === undefined) this.#waiting.set(logName, [packedEntry]);
    else waitingEntries.push(packedEntry);
    this.#heldCount += 1;
    if (this.#timer === undefined) this.#schedule(GATHER_MS);
  }

  /** Resolves when all recorded entries are in Redis. Rejects if Redis refuses them. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#waiting.size > 0 || this.#unindexed.size > 0) await this.#writeOnce();
    if (this.#waiting.size > 0) await this.flush();
  }

  /**
   * Permanently removes a tenant's log (erasure), including entries that are still being written here or on another
   * node.
   */
  async forget(tenantId: string): Promise<void> {
    // A batch that Redis refuses is put back, and then removed here.
    await this.#writing?.catch(() => undefined);
    this.#heldCount -= this.#waiting.get(tenantId)?.length ?? 0;
    this.#waiting.delete(tenantId);
    const { store, clock } = this.#options;
    // Set the mark first. A writer that appends after the erasure finds it and removes its entries.
    await store.append([['ZADD', REQUEST_LOG_ERASED, clock.wallMs(), erasedMark(tenantId)]]);
    await this.#erase([tenantId]);
  }

  async #erase(logNames: readonly string[]): Promise<void> {
    await this.#options.store.append([
      ...logNames.map((logName): RedisCommand => ['UNLINK', ...requestLogKeys(logName)]),
      ['ZREM', REQUEST_LOG_INDEX, ...logNames],
      ['ZREM', REQUEST_LOG_BYTES, ...logNames],
    ]);
  }

  /** Writes the waiting entries and stops. Never rejects: entries that Redis refuses now are lost, which is logged. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sizeCheck.cancel();
    this.#timer?.cancel();
    try {
      await this.flush();
    } catch (error) {
      this.#options.log.error(
        { err: error, lost: this.#heldCount },
        'the request log could not be written out',
      );
    }
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.after(delayMs, () => void this.#write());
  }

  /** Writes what waits. Entries that come during the write wait for the usual time after it. */
  async #write(): Promise<void> {
    let againAfterMs = GATHER_MS;
    try {
      this.#writing = this.#writeOnce();
      await this.#writing;
    } catch (error) {
      if (!this.#isAway)
        this.#options.log.warn({ err: error }, 'the request log cannot be written: it waits for Redis');
      this.#isAway = true;
      againAfterMs = RETRY_AFTER_MS;
    }
    this.#writing = undefined;
    this.#timer = undefined;
    if (this.#waiting.size > 0 || this.#unindexed.size > 0) this.#schedule(againAfterMs);
  }

  async #writeOnce(): Promise<void> {
    const batch = [...this.#waiting];
    this.#waiting = new Map();
    const results = await Promise.allSettled(batch.map((part) => this.#append(...part)));
    await this.#index();
    const refusal = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (refusal !== undefined) throw refusal.reason;
    if (this.#isAway) this.#options.log.info({}, 'the request log is written again');
    this.#isAway = false;
  }

  /** Appends the entries of one tenant. Entries that Redis refuses wait again, and those of other tenants do not. */
  async #append(logName: string, entries: string[]): Promise<void> {
    const { store, limits } = this.#options;
    const keys = requestLogKeys(logName);
    const limitsOfOne = [limits.maxEntriesPerTenant, limits.maxAgeMs];
    try {
      // The script is sent as its source, because one master of a cluster may lack its digest.
      const append: RedisCommand = [
        'EVAL',
        APPEND_SCRIPT.source,
        2,
        ...keys,
        entries.length,
        entries.join(','),
        ...limitsOfOne,
      ];
      const [reply] = (await store.append([append])) as [AppendReply];
      this.#unindexed.set(logName, reply);
      this.#heldCount -= entries.length;
    } catch (error) {
      this.#waiting.set(logName, [...entries, ...(this.#waiting.get(logName) ?? [])]);
      throw error;
    }
  }

  /** Notes the time and size of the logs that have new entries. Removes those of tenants that are erased. */
  async #index(): Promise<void> {
    const changed = [...this.#unindexed];
    if (changed.length === 0) return;
    const logNames = changed.map(([logName]) => logName);
    const [, , marks] = (await this.#options.store.append([
      ['ZADD', REQUEST_LOG_INDEX, ...changed.flatMap(([name, [id]]) => [Number.parseInt(id, 10), name])],
      ['ZADD', REQUEST_LOG_BYTES, ...changed.flatMap(([name, [, bytes]]) => [bytes, name])],
      ['ZMSCORE', REQUEST_LOG_ERASED, ...logNames.map(erasedMark)],
    ])) as [unknown, unknown, readonly unknown[]];
    const erased = logNames.filter((_, index) => marks[index] !== null);
    if (erased.length > 0) await this.#erase(erased);
    for (const [logName, reply] of changed)
      if (this.#unindexed.get(logName) === reply) this.#unindexed.delete(logName);
  }

  #armSizeCheck(): ArmedTimer {
    return this.#options.clock.after(SIZE_CHECK_EVERY_MS, () => {
      this.#sizeCheck = this.#armSizeCheck();
      this.holdToSize().catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'the size of the request log could not be checked');
      });
    });
  }

  /** Drops the oldest entries of the largest logs until all together fit `maxBytes`, and forgets expired logs. */
  async holdToSize(): Promise<void> {
    const { store, clock } = this.#options;
    const [rows] = await store.read([['ZREVRANGE', REQUEST_LOG_BYTES, 0, -1, 'WITHSCORES']]);
    const logs = scoredMembers(rows);
    let excessBytes = logs.reduce((sum, [, bytes]) => sum + bytes, 0) - this.#options.limits.maxBytes;
    for (const [logName, bytes] of logs) {
      if (excessBytes <= 0) break;
      const keptBytes = await this.#trim(logName, Math.max(0, bytes - excessBytes));
      excessBytes -= bytes - keptBytes;
    }
    const maxScore = `(${clock.wallMs() - this.#options.limits.maxAgeMs}`;
    await store.append([['ZREMRANGEBYSCORE', REQUEST_LOG_ERASED, '-inf', maxScore]]);
    const [goneLogs] = await store.read([['ZRANGEBYSCORE', REQUEST_LOG_INDEX, '-inf', maxScore]]);
    if (goneLogs.length === 0) return;
    await store.append([
      ['ZREM', REQUEST_LOG_INDEX, ...goneLogs],
      ['ZREM', REQUEST_LOG_BYTES, ...goneLogs],
    ]);
  }

  /**
   * Removes entries in small calls, so that Redis is never blocked for long, until at most `keepBytes` bytes are left.
   */
  async #trim(logName: string, keepBytes: number): Promise<number> {
    const { store } = this.#options;
    const trim: RedisCommand = [
      'EVAL',
      TRIM_SCRIPT.source,
      2,
      ...requestLogKeys(logName),
      keepBytes,
      TICKS_PER_TRIM,
    ];
    let bytesBefore = Number.POSITIVE_INFINITY;
    for (;;) {
      const [keptBytes] = (await store.append([trim])) as [number];
      // The log may have been erased meanwhile.
      await store.append([['ZADD', REQUEST_LOG_BYTES, 'XX', keptBytes, logName]]);
      // If entries are written faster than they are removed, the rest waits for the next check.
      if (keptBytes <= keepBytes || keptBytes >= bytesBefore) return keptBytes;
      bytesBefore = keptBytes;
    }
  }
}
