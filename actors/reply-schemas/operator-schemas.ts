/** Replies to operators about tenants, nodes, dead letters and erasures (docs/contract.md, The operators' API). */
import * as v from 'valibot';
import { PLAN_NAMES } from '../../policy/plan.ts';
import { INBOUND_MODES } from '../inbound-mode.ts';
import { count, instant } from './reply-fields.ts';

const tuned = v.optional(v.nullable(v.number()));

/** A tenant. Its settings are those that differ from the defaults. */
export const tenant = v.strictObject({
  id: v.string(),
  name: v.string(),
  plan: v.picklist(PLAN_NAMES),
  active: v.boolean(),
  owner: v.nullable(v.strictObject({ name: v.string(), notificationNumber: v.nullable(v.string()) })),
  settings: v.strictObject({
    coldPerDay: tuned,
    declaredPerDay: tuned,
    groupsPerDay: tuned,
    groupPerRecipient24h: tuned,
    statusesPerDay: tuned,
  }),
  poolFallback: v.boolean(),
  platform: v.boolean(),
  inbound: v.picklist(INBOUND_MODES),
  createdAt: v.string(),
});

/** A tenant with the status of its actor. */
export const tenantInspection = v.strictObject({
  ...tenant.entries,
  actor: v.strictObject({
    status: v.picklist(['active', 'backoff', 'suspended']),
    restarts: v.number(),
    lastError: v.optional(v.strictObject({ atMs: v.number(), message: v.string() })),
  }),
});

/** A node as the answering node knows it. */
export const node = v.strictObject({
  nodeId: v.string(),
  incarnation: v.string(),
  shards: count,
  self: v.boolean(),
  leaseMarginMs: v.exactOptional(v.pipe(v.number(), v.description('Only for the node that answers.'))),
});

/** A command that made an actor throw. */
export const deadLetter = v.strictObject({
  id: v.string(),
  actor: v.pipe(v.string(), v.description('`kind/id`.')),
  command: v.nullable(v.string()),
  cause: v.string(),
  at: instant,
});

/** The reply to an erasure. */
export const deleted = v.strictObject({ id: v.string(), deleted: v.literal(true) });

/** How many shops and people of a tenant are still to be erased. */
const left = { shopsLeft: v.number(), peopleLeft: v.number() };

/** The reply to an erasure that is not finished. */
export const deleting = v.strictObject({ id: v.string(), deleted: v.literal(false), ...left });

/** An erasure that runs. */
export const erasure = v.strictObject({
  id: v.string(),
  wholeTenant: v.boolean(),
  ...left,
});
