import type { CursorPage } from '../../actors/reply-schemas/reply-fields.ts';
import type { Clock } from '../../runtime/clock.ts';
import { readLuaScript } from '../../runtime/lua-script.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import type { Random } from '../../runtime/random.ts';
import type { RedisCommand, Store } from '../../runtime/store.ts';
import { erasedMark } from '../request-log/request-log-keys.ts';
import type { AuditEntry, AuditLogQuery, Change, ChangeOutcome } from './audit-entry.ts';
import { AUDIT_KEYS, listChanges } from './audit-reader.ts';

/** Most changes that are kept, by default: 20 MB at about 400 bytes each. */
const DEFAULT_MAX_ENTRIES = 50_000;
/** Entries that an erasure reads in one step. */
const SCAN_COUNT = 500;

const BEGIN_SCRIPT = readLuaScript(new URL('./begin-change.lua', import.meta.url));
const END_SCRIPT = readLuaScript(new URL('./end-change.lua', import.meta.url));
const MASK_SCRIPT = readLuaScript(new URL('./mask-change.lua', import.meta.url));
const MARK_SCRIPT = readLuaScript(new URL('./mark-erased.lua', import.meta.url));

interface AuditLogOptions {
  readonly store: Pick<Store, 'read' | 'append'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly random: Random;
  /** Retention of a change, in milliseconds. */
  readonly maxAgeMs: number;
  readonly maxEntries?: number;
}

/**
 * The log of the operators' changes, one for all nodes. A change is recorded before it is tried, and its outcome
 * afterwards. So no change goes unrecorded. A change has no outcome if its node died in between, or if Redis refused
 * the outcome. An entry never contains a body, a query value or a token. All methods reject with the store's failure if
 * Redis refuses or does not answer.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #newId;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#newId = objectIdGenerator(options.random);
  }

  /** Records a change that is about to be tried, and returns its id. If this rejects, the change must not be made. */
  async begin(change: Change): Promise<string> {
    const { clock, maxAgeMs, maxEntries = DEFAULT_MAX_ENTRIES } = this.#options;
    const { order, entries, outcomes, erased } = AUDIT_KEYS;
    const namedIds = Object.values(change.params).map(erasedMark);
    const [id] = await this.#append([
      'EVAL',
      BEGIN_SCRIPT.source,
      4,
      order,
      entries,
      outcomes,
      erased,
      this.#newId(clock.wallMs()),
      JSON.stringify(change),
      JSON.stringify(maskChange(change)),
      maxEntries,
      maxAgeMs,
      ...namedIds,
    ]);
    return String(id);
  }

  /** Records the outcome of a change. */
  async end(id: string, { status, code }: ChangeOutcome): Promise<void> {
    const outcome = code === undefined ? String(status) : `${status} ${code}`;
    const { entries, outcomes } = AUDIT_KEYS;
    const { maxAgeMs } = this.#options;
    await this.#append(['EVAL', END_SCRIPT.source, 2, entries, outcomes, id, outcome, maxAgeMs]);
  }

  /** Removes a change that named nothing. */
  async drop(id: string): Promise<void> {
    const { order, entries } = AUDIT_KEYS;
    await this.#options.store.append([
      ['ZREM', order, id],
      ['HDEL', entries, id],
    ]);
  }

  list(query: AuditLogQuery): Promise<CursorPage<AuditEntry>> {
    return listChanges(this.#options.store, query);
  }

  /**
   * Replaces all ids of the entries that name an erased tenant, shop or person by digests, also in later entries.
   * Operators, methods and times are kept. A filter by the id still finds the entries.
   */
  async forget(id: string): Promise<void> {
    const mark = erasedMark(id);
    await this.#append(['EVAL', MARK_SCRIPT.source, 1, AUDIT_KEYS.erased, mark]);
    let cursor = '0';
    do {
      const [[next, pairs]] = await this.#options.store.read([
        ['HSCAN', AUDIT_KEYS.entries, cursor, 'COUNT', SCAN_COUNT],
      ]);
      cursor = next;
      for (let index = 0; index < pairs.length; index += 2) {
        const change = JSON.parse(pairs[index + 1] ?? '') as Change;
        if (!Object.values(change.params).includes(id)) continue;
        const entry = JSON.stringify(maskChange(change));
        await this.#append(['EVAL', MASK_SCRIPT.source, 1, AUDIT_KEYS.entries, pairs[index] ?? '', entry]);
      }
    } while (cursor !== '0');
  }

  async #append(write: RedisCommand): Promise<unknown[]> {
    return this.#options.store.append([write]);
  }
}

function maskChange(change: Change): Change {
  const params = Object.entries(change.params).map(([name, value]) => [name, erasedMark(value)]);
  return { ...change, params: Object.fromEntries(params) };
}
