import * as v from 'valibot';
import { count, instant } from './reply-fields.ts';

/** Replies to operators about nodes, dead letters and erasures (docs/contract.md, The operators' API). */

/** A node as the answering node knows it. */
export const node = v.strictObject({
  nodeId: v.string(),
  incarnation: v.string(),
  shards: count,
  self: v.boolean(),
  leaseMarginMs: v.exactOptional(v.pipe(v.number(), v.description('Only of the node that answers.'))),
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
