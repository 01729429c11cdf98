import { type RedisConnection, Repository, Schema } from 'redis-om';
import { shardCount } from '../../runtime/address.ts';
import { type Clock, waitAtMost } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../../runtime/store.ts';
import type { CursorPage, PageQuery } from '../reply-schemas/reply-fields.ts';
import { tenantsOfShardKey } from '../tenants/tenant-keys.ts';
import { tenantView } from '../tenants/tenant-record.ts';
import type { TenantView } from '../tenants/tenant-view.ts';
import { readTenantRecord } from './tenant-inspection.ts';

const schema = new Schema(
  'directory:tenant',
  { name: { type: 'string' }, view: { type: 'string' } },
  { dataStructure: 'HASH' },
);
/** Tenants that are read at a time. */
const READ_AT_A_TIME = 100;

/** How soon an entry is updated again after a failure. */
const RETRY_AFTER_MS = 5_000;
/** How long the caller that changed a tenant waits until the list shows the change. */
const SHOWN_WITHIN_MS = 1_000;
/** Sorted set, score 0: ids of all tenants that are listed. */
const ORDER_KEY = 'directory:tenants';

/**
 * The operators' list of all tenants: a projection that may lag and is made from the tenants' own records.
 * Nothing authenticates or decides from it, since its client is a second, unfenced one
 * (docs/decisions/016-directory-is-a-projection.md, Decision).
 */
export class OperatorsDirectory {
  readonly #store: Store;
  readonly #tenants: Repository;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Tenants with entries that wait for a retry. */
  readonly #waiting = new Set<string>();

  constructor(options: {
    readonly store: Store;
    readonly clock: Clock;
    readonly connection: RedisConnection;
    readonly log: Logger;
  }) {
    this.#store = options.store;
    this.#tenants = new Repository(schema, options.connection);
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * Updates one tenant's entry from its record, now or as soon as possible. Resolves after the first attempt, or after
   * a limited wait.
   */
  refresh(tenantId: string): Promise<void> {
    const refresh = this.#refresh(tenantId).catch((error: unknown) => this.#refreshLater(tenantId, error));
    return waitAtMost(this.#clock, SHOWN_WITHIN_MS, refresh);
  }

  #refreshLater(tenantId: string, error: unknown): void {
    const fields = { tenantId, err: error };
    this.#log.warn(fields, "the operators' directory could not be updated");
    if (this.#waiting.has(tenantId)) return;
    this.#waiting.add(tenantId);
    this.#clock.after(RETRY_AFTER_MS, () => {
      this.#waiting.delete(tenantId);
      void this.refresh(tenantId);
    });
  }

  /**
   * Adds tenants that are not listed and removes those that no longer exist. A node that ended may have left either.
   */
  async repair(): Promise<void> {
    const shards = Array.from({ length: shardCount() }, (_, shard) => shard);
    const [listedIds, ...tenantsOfShards] = await this.#store.read([
      ['ZRANGE', ORDER_KEY, 0, -1],
      ...shards.map((shard) => ['SMEMBERS', tenantsOfShardKey(shard)] as const),
    ]);
    const listedOnly = new Set(listedIds);
    for (const tenantId of tenantsOfShards.flat())
      if (!listedOnly.delete(tenantId)) await this.#refresh(tenantId);
    for (const tenantId of listedOnly) await this.#refresh(tenantId);
  }

  /** Returns tenants, newest first. `q` matches a part of the name or the beginning of the id, in any case. */
  async list(query: PageQuery & { readonly q: string | undefined }): Promise<CursorPage<TenantView>> {
    const items: TenantView[] = [];
    const part = query.q?.toLowerCase() ?? '';
    let fromId = query.cursor === undefined ? '+' : `(${query.cursor}`;
    for (;;) {
      const [ids] = await this.#store.read([
        ['ZREVRANGEBYLEX', ORDER_KEY, fromId, '-', 'LIMIT', 0, READ_AT_A_TIME],
      ]);
      const entries = ids.length === 0 ? [] : await this.#tenants.fetch(ids);
      for (const entry of entries) {
        if (typeof entry.view !== 'string') continue;
        const tenant = JSON.parse(entry.view) as TenantView;
        if (!tenant.name.toLowerCase().includes(part) && !tenant.id.startsWith(part)) continue;
        if (items.length === query.limit) return { items, nextCursor: items.at(-1)?.id ?? null };
        items.push(tenant);
      }
      if (ids.length < READ_AT_A_TIME) return { items, nextCursor: null };
      fromId = `(${ids.at(-1)}`;
    }
  }

  /**
   * Updates an entry, or removes it if the tenant is gone. The list of ids has the tenant before its entry is stored,
   * and until the entry is removed. So `repair` finds every entry, even one of a node that ended in between. Another
   * node may erase the tenant meanwhile, so its record is read again at the end.
   */
  async #refresh(tenantId: string): Promise<void> {
    const storedRecord = await this.#read(tenantId);
    if (storedRecord === undefined) {
      await this.#remove(tenantId);
      return;
    }
    const { record, ownerNumber } = storedRecord;
    const view = JSON.stringify(tenantView(record, ownerNumber));
    await this.#store.append([['ZADD', ORDER_KEY, 0, tenantId]]);
    await this.#tenants.save(tenantId, { name: record.name, view });
    if ((await this.#read(tenantId)) === undefined) await this.#remove(tenantId);
  }

  /** Reads the tenant's record. Undefined if it is gone, or its erasure has begun. */
  async #read(tenantId: string): ReturnType<typeof readTenantRecord> {
    const storedRecord = await readTenantRecord(tenantId, this.#store);
    return storedRecord?.record.deleted ? undefined : storedRecord;
  }

  async #remove(tenantId: string): Promise<void> {
    await this.#tenants.remove(tenantId);
    await this.#store.append([['ZREM', ORDER_KEY, tenantId]]);
  }
}
