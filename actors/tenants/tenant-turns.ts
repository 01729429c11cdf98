import type { KeyLimits } from '../../policy/limits/key-limits.ts';
import { numberForms } from '../../policy/number-forms.ts';
import type { Turn } from '../../runtime/behaviour.ts';
import { done } from '../failure.ts';
import { changeTenant, createShop } from './account-turns.ts';
import { NO_TENANT } from './ask-tenant.ts';
import type { ContactRecord } from './contact-record.ts';
import { declareContacts, revokeContact } from './contact-turns.ts';
import {
  deleteShop,
  deleteTenant,
  erasePerson,
  personErased,
  shopErased,
  tenantErased,
} from './erasure-turns.ts';
import { putKey, revokeKey, rotateKey } from './key-turns.ts';
import type { TenantCommand, TenantEffect } from './tenant-commands.ts';
import type { TenantTurns } from './tenant-replies.ts';
import type { TenantState } from './tenant-state.ts';
import { usageTurn } from './usage-turn.ts';
import {
  changeWebhook,
  deleteWebhook,
  disableWebhook,
  eraseProgress,
  putWebhook,
  rotateWebhookSecret,
  webhookProgress,
} from './webhook-turns.ts';

/** Stored data about the numbers of a command, for the commands that need it. */
export interface TenantFacts {
  readonly contacts: ReadonlyMap<string, ContactRecord>;
  readonly customers: ReadonlySet<string>;
  /** True if the person to be erased has an id. By default false. */
  readonly isKnown?: boolean;
  /** Stored progress of the endpoints that `erase_progress` names, by webhook id. Absent if there is none. */
  readonly progress?: ReadonlyMap<string, string>;
}

/** The inputs of a turn in addition to state and command. */
interface TurnInputs {
  readonly nowMs: number;
  readonly facts: TenantFacts;
  readonly keyLimits: KeyLimits;
  readonly makeId: (nowMs: number) => string;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
}

const TURNS: TenantTurns<TurnInputs> = {
  create_shop: (state, command, { nowMs, makeId, retentionMs }) =>
    createShop(state, { ...command, id: makeId(nowMs), nowMs, retentionMs }),
  declare: (state, { contacts }, { nowMs, makeId, facts }) =>
    declareContacts(state, contacts, { nowMs, stored: facts.contacts, makeId }),
  revoke_contact: (state, { phone }, { nowMs, makeId, facts }) =>
    revokeContact(state, phone, { nowMs, stored: facts.contacts, makeId }),
  change: (state, { changes }) => changeTenant(state, changes),
  add_customers: ({ keys }, { phones }, { facts }) => ({
    writes: [['SADD', keys.customers, ...phones]],
    reply: done({ added: new Set(phones).size - facts.customers.size }),
  }),
  remove_customers: ({ keys }, { phones }, { facts }) => ({
    writes: [['SREM', keys.customers, ...phones.flatMap(numberForms)]],
    reply: done({ removed: facts.customers.size }),
  }),
  put_key: (state, { key }) => putKey(state, key),
  rotate_key: (state, command, { nowMs }) => rotateKey(state, { ...command, nowMs }),
  revoke_key: (state, command, { nowMs }) => revokeKey(state, { ...command, nowMs }),
  put_webhook: putWebhook,
  change_webhook: (state, command, { nowMs }) => changeWebhook(state, { ...command, nowMs }),
  rotate_webhook_secret: (state, command, { nowMs }) => rotateWebhookSecret(state, { ...command, nowMs }),
  disable_webhook: (state, command, { nowMs }) => disableWebhook(state, { ...command, nowMs }),
  delete_webhook: (state, { webhookId }) => deleteWebhook(state, webhookId),
  webhook_progress: webhookProgress,
  delete_shop: (state, { shopId }) => deleteShop(state, shopId),
  delete_tenant: deleteTenant,
  erase_person: (state, { personId }, { facts }) => erasePerson(state, personId, facts),
  person_erased: (state, { personId }) => personErased(state, personId),
  erase_progress: (state, _command, { facts }) => eraseProgress(state, facts.progress),
  shop_erased: (state, { shopId }) => shopErased(state, shopId),
  tenant_erased: tenantErased,
  owner_number(state, { phone }) {
    if (state.ownerNumber !== null) return {};
    return { state: { ...state, ownerNumber: phone }, effects: [{ type: 'announce_tenant' }] };
  },
  store_usage: (state, _command, { keyLimits }) => usageTurn(state, keyLimits),
  timer: () => ({}),
};

/** The commands that a deleted tenant still accepts. */
const ERASURE_COMMANDS: ReadonlySet<TenantCommand['type']> = new Set([
  'delete_tenant',
  'delete_shop',
  'shop_erased',
  'tenant_erased',
]);

/** Decides a command. A deleted tenant refuses all but those of its erasure. */
export function tenantTurn(
  state: TenantState,
  command: TenantCommand,
  inputs: TurnInputs,
): Turn<TenantState, TenantEffect> {
  // A command that waited while the erasure was decided would write to an erased tenant.
  const isLeft = ERASURE_COMMANDS.has(command.type) && !state.isGone;
  if (state.record.deleted && !isLeft) return { reply: NO_TENANT };
  const decide: (state: TenantState, command: never, inputs: TurnInputs) => Turn<TenantState, TenantEffect> =
    TURNS[command.type];
  // The command has the type under which its turn was found.
  return decide(state, command as never, inputs);
}
