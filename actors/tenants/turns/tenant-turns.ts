import { numberForms } from '../../../policy/number-forms.ts';
import type { Turn } from '../../../runtime/behaviour.ts';
import { done } from '../../failure.ts';
import { NO_TENANT } from '../ask-tenant.ts';
import type { TenantCommand, TenantEffect } from '../tenant-commands.ts';
import type { TenantTurns, TurnInputs } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';
import { changeTenant, createShop } from './account-turns.ts';
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

const TURNS: TenantTurns = {
  create_shop: createShop,
  declare: declareContacts,
  revoke_contact: revokeContact,
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
  rotate_key: rotateKey,
  revoke_key: revokeKey,
  put_webhook: putWebhook,
  change_webhook: changeWebhook,
  rotate_webhook_secret: rotateWebhookSecret,
  disable_webhook: disableWebhook,
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

type Decider = (state: TenantState, command: never, inputs: TurnInputs) => Turn<TenantState, TenantEffect>;

/** Decides a command. A deleted tenant refuses all but those of its erasure. */
export function tenantTurn(
  state: TenantState,
  command: TenantCommand,
  inputs: TurnInputs,
): Turn<TenantState, TenantEffect> {
  // A command that waited while the erasure was decided would write to an erased tenant.
  const isStillTaken = ERASURE_COMMANDS.has(command.type) && !state.isGone;
  if (state.record.deleted && !isStillTaken) return { reply: NO_TENANT };
  const decide: Decider = TURNS[command.type];
  // The command has the type under which its turn was found.
  return decide(state, command as never, inputs);
}
