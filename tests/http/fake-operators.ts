import { done, failed, type Outcome } from '../../actors/failure.ts';
import type {
  FleetOperations,
  OperatorOperations,
  ShopInspection,
  SupervisedTenant,
} from '../../actors/operators/operator-operations.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import type { KeyView } from '../../actors/tenants/tenant-view.ts';
import { checkSettings } from '../../policy/tenant-settings.ts';
import { type FakeMemory, hashOf, newKeyValue, pageOf } from './fake-account.ts';
import { addShop } from './fake-tenants.ts';

const RUNNING_ACTOR: SupervisedTenant['actor'] = { status: 'active', restarts: 0, lastError: undefined };

/** The operators' side of the fake. */
export function fakeOperators(memory: FakeMemory): OperatorOperations {
  async function steer(reference: ShopReference): Promise<Outcome<ShopInspection>> {
    const shop = memory.tenants.get(reference.tenantId)?.shops.get(reference.shopId);
    if (shop === undefined) return failed('NOT_FOUND');
    return done({
      ...reference,
      ...RUNNING_ACTOR,
      name: shop.view.name,
      state: shop.channel?.status ?? 'disconnected',
      shard: 0,
      owner: { nodeId: 'one', epoch: 1 },
      mailbox: { depth: 0, bytes: 0, oldestQueuedMs: 0 },
      timers: [],
      details: null,
      policy: null,
      workers: 'available',
      session: null,
    });
  }

  return {
    async createTenant(tenantId, draft) {
      const stopped = await memory.stopped('createTenant');
      if (stopped) return stopped;
      const problems = checkSettings(draft.settings ?? {});
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const view = {
        id: tenantId,
        name: draft.name,
        plan: draft.plan ?? 'free',
        active: draft.active ?? true,
        owner: draft.owner
          ? { ...draft.owner, notificationNumber: draft.owner.notificationNumber ?? null }
          : null,
        settings: {},
        poolFallback: draft.poolFallback ?? false,
        platform: draft.platform ?? false,
        inbound: draft.inbound ?? 'none',
        createdAt: new Date().toISOString(),
      } as const;
      memory.tenants.set(tenantId, {
        view,
        actor: RUNNING_ACTOR,
        keys: new Map(),
        shops: new Map(),
        contacts: new Map(),
        customers: new Set(),
        apiCalls: 0,
      });
      return done(view);
    },
    async setEgress({ tenantId, shopId }, egress) {
      const isThere = memory.tenants.get(tenantId)?.shops.has(shopId);
      return isThere ? done({ id: shopId, egress }) : failed('NOT_FOUND');
    },
    async tenant(tenantId) {
      const tenant = memory.tenants.get(tenantId);
      return tenant === undefined ? failed('NOT_FOUND') : done({ ...tenant.view, actor: tenant.actor });
    },
    async resumeTenant(tenantId) {
      const tenant = memory.tenants.get(tenantId);
      if (tenant === undefined) return failed('NOT_FOUND');
      tenant.actor = RUNNING_ACTOR;
      return done({ ...tenant.view, actor: tenant.actor });
    },
    async changeTenant(tenantId, { settings, owner, ...changes }) {
      const tenant = memory.tenants.get(tenantId);
      if (tenant === undefined) return failed('NOT_FOUND');
      const problems = checkSettings(settings ?? {});
      if (problems.length > 0) return failed('VALIDATION_ERROR', { fields: problems });
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      if (owner !== undefined) {
        const { notificationNumber = null } = tenant.view.owner ?? {};
        Object.assign(given, { owner: owner && { notificationNumber, ...owner } });
      }
      tenant.view = { ...tenant.view, ...given };
      return done(tenant.view);
    },
    async deleteTenant(tenantId) {
      const stopped = await memory.stopped('deleteTenant');
      if (stopped) return stopped;
      if (!memory.tenants.delete(tenantId)) return failed('NOT_FOUND');
      await memory.forgetInLogs({ tenantId });
      return done({ id: tenantId, deleted: true });
    },
    async deleteShop({ tenantId, shopId }) {
      const gone = memory.tenants.get(tenantId)?.shops.delete(shopId) ?? false;
      if (!gone) return failed('NOT_FOUND');
      await memory.forgetInLogs({ shopId });
      return done({ id: shopId, deleted: true });
    },
    deletePerson: async () => failed('NOT_FOUND'),
    erasure: async () => failed('NOT_FOUND'),
    async importShop(tenantId, draft) {
      const stopped = await memory.stopped('importShop');
      if (stopped) return stopped;
      const tenant = memory.tenants.get(tenantId);
      return tenant === undefined ? failed('NOT_FOUND') : done(addShop(memory, tenant, draft));
    },
    async addCustomers(tenantId, phones) {
      const customers = memory.tenants.get(tenantId)?.customers;
      if (customers === undefined) return failed('NOT_FOUND');
      const before = customers.size;
      for (const phone of phones) customers.add(phone);
      return done({ added: customers.size - before });
    },
    async listCustomers(tenantId, { limit, cursor = '', q = '' }) {
      const customers = memory.tenants.get(tenantId)?.customers;
      if (customers === undefined) return failed('NOT_FOUND');
      const wanted = [...customers].sort().filter((phone) => phone > cursor && phone.includes(q));
      const items = wanted.slice(0, limit).map((phone) => ({ phone }));
      return done({ items, nextCursor: wanted.length > limit ? (items.at(-1)?.phone ?? null) : null });
    },
    async removeCustomers(tenantId, phones) {
      const customers = memory.tenants.get(tenantId)?.customers;
      if (customers === undefined) return failed('NOT_FOUND');
      return done({ removed: phones.filter((phone) => customers.delete(phone)).length });
    },
    async createKey(tenantId, draft) {
      const tenant = memory.tenants.get(tenantId);
      if (tenant === undefined) return failed('NOT_FOUND');
      const key = newKeyValue();
      const record: KeyView = {
        id: memory.id(),
        ...draft,
        createdAt: new Date().toISOString(),
        rotatedAt: null,
        revokedAt: null,
      };
      tenant.keys.set(record.id, { view: record, hash: hashOf(key), retired: [], calls: 0 });
      memory.tenantByHash.set(hashOf(key), tenantId);
      return done({ key, record });
    },
    async listKeys(tenantId) {
      const tenant = memory.tenants.get(tenantId);
      return tenant === undefined
        ? failed('NOT_FOUND')
        : done([...tenant.keys.values()].map(({ view }) => view));
    },
    async rotateKey(tenantId, keyId) {
      const found = memory.tenants.get(tenantId)?.keys.get(keyId);
      if (found === undefined) return failed('NOT_FOUND');
      const key = newKeyValue();
      found.retired = [found.hash, ...found.retired];
      found.hash = hashOf(key);
      found.view = { ...found.view, rotatedAt: new Date().toISOString() };
      memory.tenantByHash.set(found.hash, tenantId);
      return done({ key, record: found.view });
    },
    async revokeKey(tenantId, keyId) {
      const found = memory.tenants.get(tenantId)?.keys.get(keyId);
      if (found === undefined) return failed('NOT_FOUND');
      found.view = { ...found.view, revokedAt: new Date().toISOString() };
      return done(found.view);
    },
    pause: steer,
    resume: steer,
    restart: steer,
    async passivate(reference) {
      const steered = await steer(reference);
      return steered.ok ? done({ passivated: true }) : steered;
    },
    snapshot: steer,
  };
}

const DEAD_LETTER = {
  id: 'd1',
  actor: 'tenant/66b1f0a2c3d4e5f607182906',
  command: 'put_key',
  cause: 'boom',
  at: '2027-01-31T12:00:00.000Z',
};

const SHOP_LETTER = {
  ...DEAD_LETTER,
  id: 'd2',
  actor: 'shop/66b1f0a2c3d4e5f607182906/66b1f0a2c3d4e5f607182907',
  command: 'connect',
};
const DEAD_LETTERS = [DEAD_LETTER, SHOP_LETTER];

/** Returns the data of one node, and a test's answers of the others. */
export function fakeFleet(memory: FakeMemory): FleetOperations {
  return {
    async listTenants({ limit, cursor, q }) {
      const all = [...memory.tenants.values()].map(({ view }) => view).reverse();
      return pageOf(
        all.filter(({ name }) => q === undefined || name.includes(q)),
        { limit, cursor },
      );
    },
    eachShop: async () => undefined,
    localShop: () => undefined,
    census: async () => ({
      shops: 0,
      queued: 0,
      scheduled: 0,
      oldestMessageMs: null,
      batches: {},
      batchStandsSinceMs: null,
      mailboxDepth: 0,
      states: {},
      suspendedTenants: [...memory.tenants.values()]
        .filter(({ actor }) => actor.status === 'suspended')
        .map(({ view }) => view.id),
    }),
    async resumeSuspended({ tenantId }) {
      let resumed = 0;
      for (const [id, tenant] of memory.tenants) {
        if (tenant.actor.status !== 'suspended' || (tenantId !== undefined && tenantId !== id)) continue;
        tenant.actor = RUNNING_ACTOR;
        resumed += 1;
      }
      return { resumed, left: 0 };
    },
    self: () => ({ nodeId: 'one', workers: 'available' }),
    async nodes() {
      return [{ nodeId: 'one', incarnation: 'one~1', shards: 128, self: true }];
    },
    shards: () => [{ shard: 0, nodeId: 'one', epoch: 1 }],
    clientVersion: async () => ({ version: null, pageVersion: null }),
    setClientVersion: async (version) => ({ version, pageVersion: null }),
    async deadLetters({ limit, cursor }) {
      return pageOf([DEAD_LETTER], { limit, cursor });
    },
    async deadLetter(id) {
      const found = DEAD_LETTERS.find((letter) => letter.id === id);
      return found === undefined ? failed('NOT_FOUND') : done(found);
    },
    async replayDeadLetter(id) {
      return DEAD_LETTERS.some((letter) => letter.id === id)
        ? done({ id, replayed: true })
        : failed('NOT_FOUND');
    },
  };
}
