import { checkSettings } from '../../policy/tenant-settings.ts';
import type { Actors } from '../../runtime/actors.ts';
import { shardOf } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../../runtime/store.ts';
import { done, type FailureCode, failed, type Outcome } from '../failure.ts';
import type { EgressVault } from '../sessions/egress-vault.ts';
import type { SessionHost } from '../sessions/session-host.ts';
import type { ShopCommand } from '../shops/protocol/shop-commands.ts';
import type { ShopReference } from '../shops/shop-operations.ts';
import { shopAddress } from '../shops/state/shop-keys.ts';
import { changedRecord } from '../tenants/account-turns.ts';
import { listCustomers } from '../tenants/customer-list.ts';
import type { StoredKeyDirectory } from '../tenants/key-directory.ts';
import { hashesToForget } from '../tenants/key-turns.ts';
import { keyHash, makeRawKey } from '../tenants/raw-key.ts';
import type { TenantCommand } from '../tenants/tenant-commands.ts';
import type { TenantErasure } from '../tenants/tenant-erasure.ts';
import { tenantAddress, tenantKeys, tenantsOfShardKey } from '../tenants/tenant-keys.ts';
import type { MadeShop } from '../tenants/tenant-operations.ts';
import { keyView, type TenantRecord, tenantView } from '../tenants/tenant-record.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { FreshKeyView, KeyView, TenantView } from '../tenants/tenant-view.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import { changeEgress } from './egress-change.ts';
import type { Found, OperatorOperations, ShopInspection } from './operator-operations.ts';
import type { OperatorsDirectory } from './operators-directory.ts';
import { inspectShop } from './shop-inspection.ts';
import { inspectTenant } from './tenant-inspection.ts';

/** The actors, stores and other nodes that operators' commands reach. */
export interface OperatorServiceOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly directory: StoredKeyDirectory;
  readonly erasure: Pick<TenantErasure, 'run'>;
  readonly makeId: (nowMs: number) => string;
  readonly operatorsDirectory: OperatorsDirectory;
  readonly host: Pick<SessionHost, 'describe' | 'available' | 'tryEgress'>;
  readonly egressVault: EgressVault;
  readonly log: Logger;
}

/** A tenant that is there, and the way into its mailbox. */
interface TenantAccess {
  readonly withTenant: <Value, Code extends FailureCode = never>(
    tenantId: string,
    answer: (state: TenantState) => Outcome<Value, Code> | Promise<Outcome<Value, Code>>,
  ) => Promise<Found<Value, Code>>;
  readonly ask: <Value, Code extends FailureCode = never>(
    tenantId: string,
    command: TenantCommand,
  ) => Promise<Found<Value, Code>>;
}

/** Operations on one tenant and its shops, on the node that owns its shard. */
export function operatorService(options: OperatorServiceOptions): OperatorOperations {
  const access = tenantAccess(options.actors);
  return {
    ...accounts(options, access),
    ...erasures(options),
    ...apiKeys(options, access),
    ...shopControls(options, access),
  };
}

function tenantAccess(actors: Actors): TenantAccess {
  const withTenant: TenantAccess['withTenant'] = async (tenantId, answer) => {
    const state = await actors.state<TenantState>(tenantAddress(tenantId));
    return state === undefined || state.record.deleted ? failed('NOT_FOUND') : answer(state);
  };
  return {
    withTenant,
    ask: <Value, Code extends FailureCode>(tenantId: string, command: TenantCommand) =>
      withTenant(tenantId, () =>
        actors.ask<Found<Value, Code>>(tenantAddress(tenantId), command, failed('NOT_FOUND')),
      ),
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

function accounts(
  { actors, store, clock, operatorsDirectory }: OperatorServiceOptions,
  { withTenant, ask }: TenantAccess,
): Accounts {
  return {
    async createTenant(tenantId, { owner, settings, ...tenant }) {
      const problems = checkSettings(settings ?? {});
      if (problems.length > 0) {
        return failed('VALIDATION_ERROR', {
          fields: problems.map(({ field, message }) => ({ field: `settings.${field}`, message })),
        });
      }
      const existing = await withTenant(tenantId, ({ record, ownerNumber }) =>
        done(tenantView(record, ownerNumber)),
      );
      if (existing.ok) return existing;
      const shard = shardOf(tenantId);
      const record = changedRecord(newTenant(tenantId, tenant.name, clock.wallMs()), {
        owner,
        settings,
        ...tenant,
      });
      const keys = tenantKeys(tenantId);
      const number = owner?.notificationNumber ?? null;
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
      const changed = await ask<TenantView, 'VALIDATION_ERROR'>(tenantId, { type: 'change', changes });
      if (changed.ok) await operatorsDirectory.refresh(tenantId);
      return changed;
    },
    async importShop(tenantId, draft) {
      const command = { type: 'create_shop', ...draft, imported: true, idempotencyKey: undefined } as const;
      const made = await ask<MadeShop>(tenantId, command);
      return made.ok ? done(made.value.shop) : made;
    },
    addCustomers: (tenantId, phones) => ask(tenantId, { type: 'add_customers', phones }),
    listCustomers: (tenantId, query) =>
      withTenant(tenantId, async ({ keys }) =>
        done(await listCustomers({ store, key: keys.customers }, query)),
      ),
    removeCustomers: (tenantId, phones) => ask(tenantId, { type: 'remove_customers', phones }),
  };
}

/** How long an operator's call waits for an erasure to end. */
const ERASED_WITHIN_MS = 1_000;

type Erasures = Pick<OperatorOperations, 'deleteTenant' | 'deleteShop' | 'deletePerson' | 'erasure'>;

function erasures({ actors, erasure, clock }: OperatorServiceOptions): Erasures {
  const left = async (tenantId: string): Promise<TenantState | undefined> => {
    const state = await actors.state<TenantState>(tenantAddress(tenantId));
    return state?.isGone ? undefined : state;
  };
  /** Sends the tenant a command, and waits a while for the erasure that follows. */
  const ask = async (tenantId: string, command: TenantCommand): Promise<Found<unknown>> => {
    const address = tenantAddress(tenantId);
    const asked = await actors.ask<Found<unknown>>(address, command, failed('NOT_FOUND'));
    if (asked.ok) await within(clock, ERASED_WITHIN_MS, erasure.run(address));
    return asked;
  };
  return {
    async deleteTenant(tenantId) {
      const asked = await ask(tenantId, { type: 'delete_tenant' });
      if (!asked.ok) return asked;
      const state = await left(tenantId);
      if (state === undefined) return done({ id: tenantId, deleted: true });
      return done({ id: tenantId, deleted: false, ...leftOf(state) });
    },
    async deleteShop({ tenantId, shopId }) {
      const asked = await ask(tenantId, { type: 'delete_shop', shopId });
      if (!asked.ok) return asked;
      const state = await left(tenantId);
      if (!state?.erasing.has(shopId)) return done({ id: shopId, deleted: true });
      return done({ id: shopId, deleted: false, ...leftOf(state) });
    },
    async deletePerson(tenantId, personId) {
      const asked = await ask(tenantId, { type: 'erase_person', personId });
      if (!asked.ok) return asked;
      const state = await left(tenantId);
      if (!state?.erasingPeople.has(personId)) return done({ id: personId, deleted: true });
      return done({ id: personId, deleted: false, ...leftOf(state) });
    },
    async erasure(tenantId) {
      const state = await left(tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const { shopsLeft, peopleLeft } = leftOf(state);
      if (!state.record.deleted && shopsLeft + peopleLeft === 0) return failed('NOT_FOUND');
      return done({ id: tenantId, wholeTenant: state.record.deleted, shopsLeft, peopleLeft });
    },
  };
}

function leftOf({ erasing, erasingPeople }: TenantState): {
  readonly shopsLeft: number;
  readonly peopleLeft: number;
} {
  return { shopsLeft: erasing.size, peopleLeft: erasingPeople.size };
}

/** Resolves with the work, or after `timeoutMs`. */
function within(clock: Pick<Clock, 'after'>, timeoutMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(timeoutMs, resolve);
    void work.finally(() => {
      timer.cancel();
      resolve();
    });
  });
}

type ApiKeys = Pick<OperatorOperations, 'createKey' | 'listKeys' | 'rotateKey' | 'revokeKey'>;

function apiKeys(
  { directory, clock, makeId }: OperatorServiceOptions,
  { withTenant, ask }: TenantAccess,
): ApiKeys {
  /** Makes a value and names its tenant first, so that the key is found as soon as the commit succeeds. */
  const withNewValue = async <Code extends FailureCode = never>(
    tenantId: string,
    put: (hash: string) => TenantCommand,
  ): Promise<Found<FreshKeyView, Code>> => {
    const key = makeRawKey();
    const hash = keyHash(key);
    await directory.name(hash, tenantId);
    const record = await ask<KeyView, Code>(tenantId, put(hash));
    if (!record.ok) return record;
    return (await directory.keep(hash)) ? done({ ...record.value, key }) : failed('NOT_FOUND');
  };

  return {
    createKey: (tenantId, { expiresAt, ...draft }) =>
      withTenant(tenantId, () =>
        withNewValue(tenantId, (hash) => {
          const nowMs = clock.wallMs();
          const expiresAtMs = expiresAt === null ? null : Date.parse(expiresAt);
          const times = { createdAtMs: nowMs, rotatedAtMs: null, revokedAtMs: null };
          return { type: 'put_key', key: { id: makeId(nowMs), hash, ...draft, expiresAtMs, ...times } };
        }),
      ),
    listKeys: (tenantId) =>
      withTenant(tenantId, ({ apiKeys }) => done([...apiKeys.values()].map(({ record }) => keyView(record)))),
    rotateKey: (tenantId, keyId) =>
      withTenant(tenantId, async ({ apiKeys }) => {
        const forgotten = hashesToForget(apiKeys.get(keyId)?.record ?? {});
        // Before the commit: a crash after it would leave them in the directory permanently.
        if (forgotten.length > 0) await directory.forget(forgotten);
        return withNewValue<'CONFLICT'>(tenantId, (hash) => ({ type: 'rotate_key', keyId, hash, forgotten }));
      }),
    revokeKey: (tenantId, keyId) => ask(tenantId, { type: 'revoke_key', keyId }),
  };
}

type ShopControls = Pick<
  OperatorOperations,
  'pause' | 'resume' | 'restart' | 'passivate' | 'snapshot' | 'setEgress'
>;

function shopControls(options: OperatorServiceOptions, { withTenant }: TenantAccess): ShopControls {
  const { actors, clock } = options;
  const withShop = (shop: ShopReference, act: () => Promise<unknown>): Promise<Found<ShopInspection>> =>
    withTenant(shop.tenantId, async ({ shops, settings }) => {
      if (!shops.has(shop.shopId)) return failed('NOT_FOUND');
      await act();
      const view = await inspectShop(shopAddress(shop), options, { settings, nowMs: options.clock.wallMs() });
      return view === undefined ? failed('NOT_FOUND') : done(view);
    });
  const command = (shop: ShopReference, command: ShopCommand): Promise<unknown> =>
    withReplyTimeout(clock, actors.ask(shopAddress(shop), command));
  return {
    pause: (shop) => withShop(shop, () => command(shop, { type: 'pause' })),
    resume: (shop) =>
      withShop(shop, async () => {
        await actors.resume(shopAddress(shop));
        await command(shop, { type: 'resume' });
      }),
    restart: (shop) => withShop(shop, () => actors.restart(shopAddress(shop))),
    passivate: (shop) =>
      withTenant(shop.tenantId, async ({ shops }) => {
        if (!shops.has(shop.shopId)) return failed('NOT_FOUND');
        const answer = await actors.passivate(shopAddress(shop));
        if (answer === 'passivated') return done({ passivated: true });
        return failed('CONFLICT', {
          message: 'The shop has a session or work in its queue and must stay active.',
        });
      }),
    setEgress: (shop, egress) =>
      withTenant(shop.tenantId, async ({ shops }) =>
        shops.has(shop.shopId) ? changeEgress(options, shop, egress) : failed('NOT_FOUND'),
      ),
    snapshot: (shop) => withShop(shop, async () => undefined),
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
