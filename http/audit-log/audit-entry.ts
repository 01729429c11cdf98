import * as v from 'valibot';
import type { ReplyOf } from '../../actors/reply-schemas/reply-fields.ts';

/** One change of an operator, as operators read it. */
export const auditEntry = v.strictObject({
  id: v.string(),
  /** When it began, by Redis's clock: ISO 8601 in UTC. */
  at: v.string(),
  operator: v.string(),
  role: v.string(),
  method: v.string(),
  route: v.string(),
  /** The path's parameters by name, which are all ids. All are digests if one of them was erased. */
  params: v.record(v.string(), v.string()),
  ip: v.string(),
  requestId: v.string(),
  /** Null while the change is in progress, or if its outcome was never recorded. */
  status: v.nullable(v.number()),
  code: v.nullable(v.string()),
});

export type AuditEntry = ReplyOf<typeof auditEntry>;

/** A change that an operator is about to make. */
export type Change = Omit<AuditEntry, 'id' | 'at' | 'status' | 'code'>;

export interface ChangeOutcome {
  readonly status: number;
  /** Why it was refused; undefined for a success. */
  readonly code: string | undefined;
}

/** Filters for the list of changes. */
export interface AuditLogQuery {
  readonly operator: string | undefined;
  readonly tenantId: string | undefined;
  readonly route: string | undefined;
  readonly status: number | undefined;
  /** Only changes that began after this, in milliseconds since the Unix epoch. */
  readonly afterMs: number | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}
