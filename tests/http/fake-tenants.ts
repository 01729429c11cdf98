import ipaddr from 'ipaddr.js';
import { done, failed } from '../../actors/failure.ts';
import { neverDeclared } from '../../actors/tenants/contact-record.ts';
import type {
  Admission,
  AdmissionTerms,
  ContactView,
  ShopView,
  TenantOperations,
} from '../../actors/tenants/tenant-operations.ts';
import { foldedName } from '../../actors/tenants/tenant-state.ts';
import { PLANS } from '../../policy/plan.ts';
import { type FakeKey, type FakeMemory, type FakeTenant, pageOf } from './fake-account.ts';

/** Tenants in memory: simple, but every promise of the interface that HTTP relies on holds. */
export function fakeTenants(memory: FakeMemory): TenantOperations {
  return {
    admit: (request, terms) => admit(memory, request, terms),
    async identity(caller) {
      const stopped = await memory.stopped('identity');
      if (stopped) return stopped;
      const tenant = memory.tenant(caller.tenantId);
      const { view } = keyOf(tenant, caller.keyId);
      const limit = PLANS[tenant.view.plan].apiCallsPerMonth;
      const used = tenant.apiCalls;
      const calls = { limit, used, remaining: limit - used, resetsAt: '2099-01-01T00:00:00.000Z' };
      return done({
        key: {
          id: view.id,
          name: view.name,
          permissions: view.permissions,
          expiresAt: view.expiresAt,
          createdAt: view.createdAt,
        },
        tenant: { id: tenant.view.id, name: tenant.view.name, plan: tenant.view.plan },
        limits: view.limits,
        quota: { api_calls: calls, apiCalls: calls },
      });
    },
    async listShops(tenantId, { page, limit }) {
      const stopped = await memory.stopped('listShops');
      if (stopped) return stopped;
      const all = [...memory.tenant(tenantId).shops.values()].map(({ view }) => view).reverse();
      return done({ items: all.slice((page - 1) * limit, page * limit), page, limit, total: all.length });
    },
    async createShop(tenantId, draft) {
      const stopped = await memory.stopped('createShop');
      if (stopped) return stopped;
      const tenant = memory.tenant(tenantId);
      const original = [...tenant.shops.values()].find(
        ({ idempotencyKey }) => idempotencyKey !== undefined && idempotencyKey === draft.idempotencyKey,
      );
      if (original !== undefined) {
        const { view } = original;
        return done({ shop: view, replayed: true, differs: view.name !== draft.name });
      }
      if (tenant.view.owner === null) return failed('TENANT_OWNER_MISSING');
      if (tenant.shops.size >= PLANS[tenant.view.plan].shops) return failed('SHOP_LIMIT_REACHED');
      if (named(tenant, draft.name).length > 0) return failed('SHOP_NAME_TAKEN');
      return done({ shop: addShop(memory, tenant, draft), replayed: false, differs: false });
    },
    async findShop(tenantId, idOrName) {
      const stopped = await memory.stopped('findShop');
      if (stopped) return stopped;
      const tenant = memory.tenant(tenantId);
      const byId = tenant.shops.get(idOrName.toLowerCase());
      if (byId !== undefined) return done(byId.view);
      const [first, ...others] = named(tenant, idOrName);
      if (first === undefined) return failed('SHOP_NOT_FOUND');
      if (others.length === 0) return done(first);
      return failed('AMBIGUOUS_SHOP', { candidates: [first, ...others].map(({ id }) => id) });
    },
    async shopId(tenantId, idOrName) {
      const found = await this.findShop(tenantId, idOrName);
      return found.ok ? done(found.value.id) : found;
    },
    async listContacts(tenantId, { activeOnly, limit, cursor }) {
      const stopped = await memory.stopped('listContacts');
      if (stopped) return stopped;
      const all = [...memory.tenant(tenantId).contacts.values()].map(withActivity);
      return done(
        pageOf(
          all.filter(({ active }) => active || !activeOnly),
          { limit, cursor },
        ),
      );
    },
    async declareContacts(tenantId, contacts) {
      const stopped = await memory.stopped('declareContacts');
      if (stopped) return stopped;
      if (contacts.length > 100) return failed('DECLARE_BATCH_TOO_LARGE');
      const declared = contacts.map(({ phone, note, expiresAt }): ContactView => {
        const contact: ContactView = {
          id: memory.id(),
          phone,
          note: note ?? null,
          expiresAt: expiresAt ?? null,
          source: 'api',
          createdAt: new Date().toISOString(),
          revokedAt: null,
          active: true,
        };
        memory.tenant(tenantId).contacts.set(phone, contact);
        return withActivity(contact);
      });
      const last = [...new Map(declared.map((contact) => [contact.phone, contact])).values()];
      return done({ accepted: last.length, contacts: last });
    },
    async revokeContact(tenantId, phone) {
      const stopped = await memory.stopped('revokeContact');
      if (stopped) return stopped;
      const { contacts } = memory.tenant(tenantId);
      const contact = contacts.get(phone);
      if (contact === undefined) return done(neverDeclared(phone));
      const revoked = { ...contact, revokedAt: new Date().toISOString(), active: false };
      contacts.set(phone, revoked);
      return done(revoked);
    },
  };
}

/** Adds a shop without asking anything. */
export function addShop(
  memory: FakeMemory,
  tenant: FakeTenant,
  draft: {
    readonly name: string;
    readonly phone: string | undefined;
    readonly idempotencyKey?: string | undefined;
  },
): ShopView {
  const view: ShopView = {
    id: memory.id(),
    name: draft.name,
    phone: draft.phone ?? null,
    channelStatus: { msgapp: null },
    createdAt: new Date().toISOString(),
  };
  tenant.shops.set(view.id, {
    view,
    channel: undefined,
    messages: [],
    scheduled: [],
    batches: [],
    idempotencyKey: draft.idempotencyKey,
    groups: [],
  });
  return view;
}

function admit(
  memory: FakeMemory,
  request: Parameters<TenantOperations['admit']>[0],
  { isBusy, mayExceedQuota, isContinued }: AdmissionTerms,
): Admission {
  const tenant = memory.tenant(request.tenantId);
  const key = [...tenant.keys.values()].find(
    ({ hash, retired }) => hash === request.keyHash || retired.includes(request.keyHash),
  );
  if (key === undefined) return { admitted: false, failure: { code: 'API_KEY_INVALID' } };
  const { id: keyId, revokedAt, expiresAt, ipAllowlist, limits } = key.view;
  const refuse = (
    code: 'API_KEY_REVOKED' | 'API_KEY_EXPIRED' | 'IP_NOT_ALLOWED' | 'TENANT_INACTIVE',
  ): Admission => ({
    admitted: false,
    failure: { code },
    keyId,
  });
  if (revokedAt !== null || key.hash !== request.keyHash) return refuse('API_KEY_REVOKED');
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return refuse('API_KEY_EXPIRED');
  if (ipAllowlist.length > 0 && !ipAllowlist.some((range) => within(request.ip, range)))
    return refuse('IP_NOT_ALLOWED');
  if (!tenant.view.active) return refuse('TENANT_INACTIVE');
  const allowed = isContinued === true || key.calls < limits.minute;
  if (allowed && !isBusy && isContinued !== true) key.calls += 1;
  const rate = {
    allowed,
    scope: 'minute',
    limit: limits.minute,
    remaining: limits.minute - key.calls,
    resetAtSeconds: Math.ceil(Date.now() / 1000) + 60,
  } as const;
  if (isBusy) return { admitted: false, failure: { code: 'OVERLOADED' }, rate, keyId };
  if (!allowed) {
    return { admitted: false, failure: { code: 'RATE_LIMITED', retryAfterSeconds: 60 }, rate, keyId };
  }
  const planned = memory.next.get('quota');
  if (planned !== undefined && !(planned instanceof Error) && !mayExceedQuota) {
    memory.next.delete('quota');
    return { admitted: false, failure: planned, rate, keyId };
  }
  if (isContinued !== true) tenant.apiCalls += 1;
  const caller = { tenantId: request.tenantId, keyId, permissions: new Set(key.view.permissions) };
  return { admitted: true, caller, rate };
}

function within(ip: string, range: string): boolean {
  const address = ipaddr.process(ip);
  if (!range.includes('/')) return ipaddr.process(range).toString() === address.toString();
  const cidr = ipaddr.parseCIDR(range);
  return cidr[0].kind() === address.kind() && address.match(cidr);
}

function keyOf(tenant: FakeTenant, keyId: string): FakeKey {
  const key = tenant.keys.get(keyId);
  if (key === undefined) throw new Error(`no key ${keyId}`);
  return key;
}

function named(tenant: FakeTenant, name: string): ShopView[] {
  const shops = [...tenant.shops.values()].map(({ view }) => view);
  return shops.filter((shop) => foldedName(shop.name) === foldedName(name));
}

function withActivity(contact: ContactView): ContactView {
  const expired = contact.expiresAt !== null && Date.parse(contact.expiresAt) <= Date.now();
  return { ...contact, active: contact.revokedAt === null && !expired };
}
