/** Replies about accounts: their contacts, their keys and their limits (docs/contract.md, Resources). */
import * as v from 'valibot';
import { PERMISSIONS } from '../permission.ts';
import { count, id, instant } from './reply-fields.ts';

export const contact = v.strictObject({
  id,
  phone: v.string(),
  note: v.nullable(v.string()),
  expiresAt: v.nullable(instant),
  source: v.literal('api'),
  createdAt: instant,
  revokedAt: v.nullable(instant),
  active: v.boolean(),
});

/** A declared contact after its revocation; of a number never declared all but the number is null. */
export const revokedContact = v.strictObject({
  id: v.nullable(id),
  phone: v.string(),
  note: v.nullable(v.string()),
  expiresAt: v.nullable(instant),
  source: v.nullable(v.literal('api')),
  createdAt: v.nullable(instant),
  revokedAt: v.nullable(instant),
  active: v.boolean(),
});

const keyLimits = v.strictObject({ minute: count, hour: count, day: count });

const allowance = v.strictObject({ limit: count, used: count, remaining: count, resetsAt: instant });

/** The caller's key and tenant. */
export const identity = v.strictObject({
  key: v.strictObject({
    id,
    name: v.string(),
    permissions: v.array(v.picklist(PERMISSIONS)),
    expiresAt: v.nullable(instant),
    createdAt: instant,
  }),
  tenant: v.strictObject({ id, name: v.string(), plan: v.string() }),
  limits: keyLimits,
  quota: v.strictObject({
    api_calls: v.pipe(
      allowance,
      v.description('The calls that the plan allows in a calendar month (UTC), and how many are left.'),
    ),
    apiCalls: v.pipe(allowance, v.description('Equal to `api_calls`, under its older name.')),
  }),
});

/** A key, without its value. */
export const key = v.strictObject({
  id: v.string(),
  name: v.string(),
  permissions: v.array(v.picklist(PERMISSIONS)),
  expiresAt: v.nullable(v.string()),
  ipAllowlist: v.array(v.string()),
  limits: keyLimits,
  createdAt: v.string(),
  rotatedAt: v.nullable(v.string()),
  revokedAt: v.nullable(v.string()),
});

/** A new key, or one with a new value: the only reply that contains the value. */
export const freshKey = v.strictObject({ ...key.entries, key: v.string() });
