import type { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { Address } from '../../../runtime/address.ts';
import type { Behaviour, DeactivationReason } from '../../../runtime/behaviour.ts';
import type { WebhookRecord } from '../stored-webhooks/webhook-record.ts';
import { TENANT_LANES, type TenantCommand, type TenantEffect } from '../tenant-commands.ts';
import type { TenantFacts } from '../tenant-replies.ts';
import { loadTenant, type TenantState } from '../tenant-state.ts';
import { readTenantFacts } from './tenant-facts.ts';
import { tenantTurn } from './tenant-turns.ts';
import { hasNewUsage, usageTurn } from './usage-turn.ts';
import { activateWebhooks } from './webhook-turns.ts';

export interface TenantBehaviourOptions {
  readonly keyLimits: KeyLimits;
  readonly makeId: (nowMs: number) => string;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
  readonly perform: (effect: TenantEffect, address: Address) => void;
  /** The tenant's actor stops here, for any reason: its other work on this node must end. */
  readonly leave: (address: Address, reason: DeactivationReason) => void;
  /** Seals an endpoint's secret with the configured keys. */
  readonly reseal: (tenantId: string, webhook: WebhookRecord, nowMs: number) => WebhookRecord;
}

/** The size of a declared contact, with the longest note, for the bound of the mailbox. */
const CONTACT_BYTES = 600;
/** The size of any other command. */
const COMMAND_BYTES = 256;

/** One tenant: its account, keys, shops and declared contacts, one command at a time. */
export function tenantBehaviour(
  options: TenantBehaviourOptions,
): Behaviour<TenantState, TenantCommand, TenantEffect, TenantFacts> {
  return {
    kind: 'tenant',
    load: (address, store, nowMs) => loadTenant(address, store, { keyLimits: options.keyLimits, nowMs }),
    readFacts: (state, command, { store }) => readTenantFacts(state, command, store),
    turn: (state, command, { nowMs, facts }) => tenantTurn(state, command, { nowMs, facts, ...options }),
    lane: ({ type }) => TENANT_LANES[type],
    size: (command) => (command.type === 'declare' ? CONTACT_BYTES * command.contacts.length : COMMAND_BYTES),
    perform: options.perform,
    timers: () => [],
    // The actor sends events to its webhooks, so it must be active. An erased tenant has none any more.
    mustLive: (state) => !state.isGone && (isErasing(state) || state.webhooks.size > 0),
    // Continues an erasure that a lost process left unfinished.
    activated(state, { nowMs }) {
      const erasures = isErasing(state) ? [{ type: 'erase' as const }] : [];
      if (state.webhooks.size === 0 || state.record.deleted) return { effects: erasures };
      const reseal = (webhook: WebhookRecord) => options.reseal(state.tenantId, webhook, nowMs);
      const webhooks = activateWebhooks(state, reseal);
      return { ...webhooks, effects: [...erasures, ...webhooks.effects] };
    },
    draining: () => ({ effects: [{ type: 'end_waits' }] }),
    // Calls are counted without a turn, so the last count is stored here.
    leaving: (state) =>
      hasNewUsage(state, options.keyLimits) ? usageTurn(state, options.keyLimits) : undefined,
    deactivated(state, address, reason) {
      options.leave(address, reason);
      if (reason === 'reloaded') return;
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
