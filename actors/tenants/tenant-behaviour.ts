import type { KeyLimits } from '../../policy/limits/key-limits.ts';
import { numberForms } from '../../policy/number-forms.ts';
import type { Address } from '../../runtime/address.ts';
import type { Behaviour, DeactivationReason, Turn } from '../../runtime/behaviour.ts';
import { partsOf } from '../../runtime/parts.ts';
import type { Store, Write } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { changeTenant, createShop } from './account-turns.ts';
import { type ContactRecord, readContacts } from './contact-record.ts';
import { declareContacts, revokeContact } from './contact-turns.ts';
import {
  deleteShop,
  deleteTenant,
  erasePerson,
  finishPersonErasure,
  shopErased,
  tenantErased,
} from './erasure-turns.ts';
import { putKey, revokeKey, rotateKey } from './key-turns.ts';
import { mergedField } from './person-entry.ts';
import { TENANT_LANES, type TenantCommand, type TenantEffect } from './tenant-commands.ts';
import { loadTenant, type TenantState } from './tenant-state.ts';
import {
  activateWebhooks,
  changeWebhook,
  deleteWebhook,
  disableWebhook,
  eraseProgress,
  putWebhook,
  rotateWebhookSecret,
  webhookProgress,
} from './webhook-turns.ts';
import type { WebhookRecord } from './webhooks/webhook-record.ts';

/** Limits, ids and effects, given to a tenant's behaviour from outside. */
export interface TenantBehaviourOptions {
  readonly keyLimits: KeyLimits;
  readonly makeId: (nowMs: number) => string;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
  readonly perform: (effect: TenantEffect, address: Address) => void;
  /** The tenant's actor stops here, for any reason: its other work on this node must end. */
  readonly leave?: (address: Address, reason: DeactivationReason) => void;
  /** Seals an endpoint's secret with the configured keys. If absent, the endpoint is stored unchanged. */
  readonly reseal?: (tenantId: string, webhook: WebhookRecord, nowMs: number) => WebhookRecord;
}

/** Stored data about the numbers of a command, for the commands that need it. */
interface TenantFacts {
  readonly contacts: ReadonlyMap<string, ContactRecord>;
  readonly customers: ReadonlySet<string>;
  /** True if the person to be erased has an id. By default false. */
  readonly isKnown?: boolean;
  /** Stored progress of the endpoints that `erase_progress` names, by webhook id. Absent if there is none. */
  readonly progress?: ReadonlyMap<string, string>;
}

const noFacts: TenantFacts = { contacts: new Map(), customers: new Set() };

/** One tenant: its account, keys, shops and declared contacts, one command at a time. */
export function tenantBehaviour(
  options: TenantBehaviourOptions,
): Behaviour<TenantState, TenantCommand, TenantEffect, TenantFacts> {
  return {
    kind: 'tenant',
    load: (address, store, nowMs) => loadTenant(address, store, { keyLimits: options.keyLimits, nowMs }),
    prepare(state, command, { store }) {
      if (command.type === 'declare')
        return readDeclared(
          state,
          command.contacts.map(({ phone }) => phone),
          store,
        );
      if (command.type === 'revoke_contact') return readDeclared(state, [command.phone], store);
      if (command.type === 'add_customers') return readCustomers(state, command.phones, store);
      if (command.type === 'remove_customers')
        return readCustomers(state, command.phones.flatMap(numberForms), store);
      if (command.type === 'erase_person') return readIsKnown(state, command.personId, store);
      if (command.type === 'erase_progress') return readProgress(state, command.webhookIds, store);
      return noFacts;
    },
    turn: (state, command, { nowMs, facts }) => turn(state, command, { nowMs, facts, ...options }),
    lane: ({ type }) => TENANT_LANES[type],
    size: (command) => (command.type === 'declare' ? 600 * command.contacts.length : 256),
    perform: options.perform,
    timers: () => [],
    // The actor sends events to its webhooks, so it must be active. An erased tenant has none any more.
    mustLive: (state) => !state.isGone && (isErasing(state) || state.webhooks.size > 0),
    // Continues an erasure that a lost process left unfinished.
    activated(state, { nowMs }) {
      const erasures = isErasing(state) ? [{ type: 'erase' as const }] : [];
      if (state.webhooks.size === 0 || state.record.deleted) return { effects: erasures };
      const { reseal = (_tenantId, webhook) => webhook } = options;
      const webhooks = activateWebhooks(state, (webhook) => reseal(state.tenantId, webhook, nowMs));
      return { ...webhooks, effects: [...erasures, ...webhooks.effects] };
    },
    draining: () => ({ effects: [{ type: 'end_waits' }] }),
    // Calls are counted without a turn, so the last count is stored here.
    leaving: (state) =>
      hasNewUsage(state, options.keyLimits) ? usageTurn(state, options.keyLimits) : undefined,
    deactivated(state, address, reason) {
      options.leave?.(address, reason);
      if (reason === 'crashed') return;
      for (const keyId of state.apiKeys.keys()) options.keyLimits.forget(keyId);
    },
    describe: (state) => ({
      tenantId: state.tenantId,
      name: state.record.name,
      status: state.record.deleted ? 'deleting' : state.record.active ? 'active' : 'inactive',
      plan: state.record.plan,
      shops: state.shops.size,
      keys: state.apiKeys.size,
      erasing: state.erasing.size,
    }),
  };
}

/** True if data of the tenant is still to be erased. */
function isErasing({ record, erasing, erasingPeople }: TenantState): boolean {
  return record.deleted || erasing.size > 0 || erasingPeople.size > 0;
}

/** The commands that a deleted tenant still accepts. */
const ERASURE_COMMANDS = new Set(['delete_tenant', 'delete_shop', 'shop_erased', 'tenant_erased']);

async function readDeclared(
  { keys }: TenantState,
  phones: readonly string[],
  store: Store,
): Promise<TenantFacts> {
  return { ...noFacts, contacts: await readContacts(keys, phones, store) };
}

async function readCustomers(
  state: TenantState,
  phones: readonly string[],
  store: Store,
): Promise<TenantFacts> {
  const [known] = (await store.read([['SMISMEMBER', state.keys.customers, ...phones]])) as [number[]];
  return { ...noFacts, customers: new Set(phones.filter((_, index) => known[index] === 1)) };
}

async function readIsKnown({ keys }: TenantState, personId: string, store: Store): Promise<TenantFacts> {
  const [found] = (await store.read([['HMGET', keys.personIds, personId, mergedField(personId)]])) as [
    (string | null)[],
  ];
  return { ...noFacts, isKnown: found.some((entry) => entry !== null) };
}

async function readProgress(
  { keys }: TenantState,
  ids: readonly string[],
  store: Store,
): Promise<TenantFacts> {
  const [stored] = (await store.read([['HMGET', keys.webhookProgress, ...ids]])) as [(string | null)[]];
  const progress = ids.flatMap((id, index) => (stored[index] == null ? [] : [[id, stored[index]] as const]));
  return { ...noFacts, progress: new Map(progress) };
}

function turn(
  state: TenantState,
  command: TenantCommand,
  context: { nowMs: number; facts: TenantFacts } & TenantBehaviourOptions,
): Turn<TenantState, TenantEffect> {
  // A command that waited while the erasure was decided would write to an erased tenant.
  const isLeft = ERASURE_COMMANDS.has(command.type) && !state.isGone;
  if (state.record.deleted && !isLeft) return { reply: failed('NOT_FOUND') };
  const { nowMs, makeId, facts } = context;
  const stored = facts.contacts;
  switch (command.type) {
    case 'create_shop':
      return createShop(state, { ...command, id: makeId(nowMs), nowMs, retentionMs: context.retentionMs });
    case 'declare':
      return declareContacts(state, command.contacts, { nowMs, stored, makeId });
    case 'revoke_contact':
      return revokeContact(state, command.phone, { nowMs, stored, makeId });
    case 'change':
      return changeTenant(state, command.changes);
    case 'add_customers':
      return {
        writes: [['SADD', state.keys.customers, ...command.phones]],
        reply: done({ added: new Set(command.phones).size - facts.customers.size }),
      };
    case 'remove_customers':
      return {
        writes: [['SREM', state.keys.customers, ...command.phones.flatMap(numberForms)]],
        reply: done({ removed: facts.customers.size }),
      };
    case 'put_key':
      return putKey(state, command.key);
    case 'rotate_key':
      return rotateKey(state, { ...command, nowMs });
    case 'revoke_key':
      return revokeKey(state, { ...command, nowMs });
    case 'put_webhook':
      return putWebhook(state, command);
    case 'change_webhook':
      return changeWebhook(state, { ...command, nowMs });
    case 'rotate_webhook_secret':
      return rotateWebhookSecret(state, { ...command, nowMs });
    case 'disable_webhook':
      return disableWebhook(state, { ...command, nowMs });
    case 'delete_webhook':
      return deleteWebhook(state, command.webhookId);
    case 'webhook_progress':
      return webhookProgress(state, command);
    case 'delete_shop':
      return deleteShop(state, command.shopId);
    case 'delete_tenant':
      return deleteTenant(state);
    case 'erase_person':
      return erasePerson(state, command.personId, facts);
    case 'person_erased':
      return finishPersonErasure(state, command.personId);
    case 'erase_progress':
      return eraseProgress(state, facts.progress);
    case 'shop_erased':
      return shopErased(state, command.shopId);
    case 'tenant_erased':
      return tenantErased(state);
    case 'owner_number':
      if (state.ownerNumber !== null) return {};
      return {
        state: { ...state, ownerNumber: command.phone },
        effects: [{ type: 'announce_tenant' }],
      };
    case 'store_usage':
      return usageTurn(state, context.keyLimits);
    case 'timer':
      return {};
  }
}

/** Keys in one write of windows: each has two parts, and a script takes at most 4,000 (`checkWrites`). */
const KEYS_PER_WRITE = 1_000;

/**
 * True if a call was counted since windows and quota were last stored. Each call that the quota counts is also counted
 * by a window.
 */
function hasNewUsage({ record, apiKeys }: TenantState, keyLimits: KeyLimits): boolean {
  if (record.deleted) return false;
  for (const keyId of apiKeys.keys()) if (keyLimits.hasChanged(keyId)) return true;
  return false;
}

/**
 * Stores the windows that changed since they were last stored, and the month's count. A commit that fails
 * leaves them so.
 */
function usageTurn(state: TenantState, keyLimits: KeyLimits): Turn<TenantState, TenantEffect> {
  if (state.record.deleted) return {};
  const changed = [...state.apiKeys.keys()].flatMap((keyId) => keyLimits.changedState(keyId) ?? []);
  const parts = [...partsOf(changed, KEYS_PER_WRITE)];
  return {
    writes: [
      ['HSET', state.keys.usage, 'quota', state.quota.encode()],
      ...parts.map(
        (part): Write => ['HSET', state.keys.usage, ...part.flatMap((key) => [key.keyId, key.state])],
      ),
    ],
    committed() {
      for (const key of changed) keyLimits.stored(key);
    },
  };
}
