import { shardOf } from '../../runtime/address.ts';
import { done } from '../failure.ts';
import { askTenant, NO_TENANT } from '../tenants/ask-tenant.ts';
import { listCustomers } from '../tenants/customer-list.ts';
import { changedRecord, settingsRefusal } from '../tenants/tenant-changes.ts';
import { tenantAddress, tenantKeys, tenantsOfShardKey } from '../tenants/tenant-keys.ts';
import { type TenantRecord, tenantView } from '../tenants/tenant-record.ts';
import { type ApiKeysOptions, apiKeys } from './api-keys.ts';
import { type ErasuresOptions, erasures } from './operator-erasures.ts';
import type { OperatorOperations } from './operator-operations.ts';
import type { OperatorsDirectory } from './operators-directory.ts';
import { type ShopControlsOptions, shopControls } from './shop-controls.ts';
import { inspectTenant } from './tenant-inspection.ts';
import { withTenant } from './with-tenant.ts';

export interface OperatorServiceOptions extends ErasuresOptions, ApiKeysOptions, ShopControlsOptions {
  readonly operatorsDirectory: OperatorsDirectory;
}

/** Operations on one tenant and its shops, on the node that owns its shard. */
export function operatorService(options: OperatorServiceOptions): OperatorOperations {
  return {
    ...accounts(options),
    ...erasures(options),
    ...apiKeys(options),
    ...shopControls(options),
  };
}

type Accounts = Pick<
  OperatorOperations,
  | 'createTenant'
  | 'tenant'
  | 'resumeTenant'
  | 'changeTenant'
  | 'importShop'
  | 'addCustomers'
  | 'listCustomers'
  | 'removeCustomers'
>;

function accounts({ actors, store, clock, operatorsDirectory }: OperatorServiceOptions): Accounts {
  return {
    async createTenant(tenantId, tenant) {
      const refusal = settingsRefusal(tenant);
      if (refusal !== undefined) return refusal;
      const existingTenant = await withTenant(actors, tenantId, ({ record, ownerNumber }) =>
        done(tenantView(record, ownerNumber)),
      );
      if (existingTenant.ok) return existingTenant;
      const shard = shardOf(tenantId);
      const record = changedRecord(newTenant(tenantId, tenant.name, clock.wallMs()), tenant);
      const keys = tenantKeys(tenantId);
      const number = tenant.owner?.notificationNumber ?? null;
      await store.commit(shard, [
        ['SET', keys.record, JSON.stringify(record)],
        ['SADD', tenantsOfShardKey(shard), tenantId],
        ...(number === null ? [] : [['SET', keys.ownerNumber, number] as const]),
      ]);
      await operatorsDirectory.refresh(tenantId);
      return done(tenantView(record, number));
    },
    tenant: (tenantId) => inspectTenant(tenantId, { actors, store }),
    async resumeTenant(tenantId) {
      // A tenant that is being erased counts as missing, and its actor continues.
      await actors.resume(tenantAddress(tenantId));
      return inspectTenant(tenantId, { actors, store });
    },
    async changeTenant(tenantId, changes) {
      const changeReply = await askTenant(actors, tenantId, { type: 'change', changes });
      if (changeReply.ok) await operatorsDirectory.refresh(tenantId);
      return changeReply;
    },
    async importShop(tenantId, draft) {
      const command = { type: 'create_shop', ...draft, imported: true, idempotencyKey: undefined } as const;
      const creationReply = await askTenant(actors, tenantId, command);
      // The turn skips all checks of an imported shop, so the tenant is missing.
      return creationReply.ok ? done(creationReply.value.shop) : NO_TENANT;
    },
    addCustomers: (tenantId, phones) => askTenant(actors, tenantId, { type: 'add_customers', phones }),
    listCustomers: (tenantId, query) =>
      withTenant(actors, tenantId, async ({ keys }) =>
        done(await listCustomers({ store, key: keys.customers }, query)),
      ),
    removeCustomers: (tenantId, phones) => askTenant(actors, tenantId, { type: 'remove_customers', phones }),
  };
}

function newTenant(id: string, name: string, createdAtMs: number): TenantRecord {
  return {
    version: 1,
    id,
    name,
    plan: 'free',
    active: true,
    owner: null,
    settings: {},
    poolFallback: false,
    platform: false,
    inbound: 'none',
    createdAtMs,
    deleted: false,
  };
}
