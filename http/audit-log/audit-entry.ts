/** A change that an operator is about to make. */
export interface Change {
  /** The operator's name. */
  readonly operator: string;
  readonly role: string;
  readonly method: string;
  /** The template. */
  readonly route: string;
  /** The path's parameters by name: ids alone. They are digests if the tenant or shop was erased. */
  readonly params: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly requestId: string;
}

/** The outcome of a change. */
export interface Outcome {
  readonly status: number;
  /** Why it was refused; undefined for a success. */
  readonly code: string | undefined;
}

/** One change as operators read it. */
export interface AuditEntry extends Change {
  readonly id: string;
  /** ISO 8601 in UTC, when it was begun, by Redis's clock. */
  readonly at: string;
  /** Null while the change is in progress, or if its node ended before the outcome was known. */
  readonly status: number | null;
  readonly code: string | null;
}

/** Filters for the list of changes. */
export interface AuditLogQuery {
  readonly operator: string | undefined;
  readonly tenantId: string | undefined;
  readonly route: string | undefined;
  readonly status: number | undefined;
  /** Only what was begun after this; milliseconds since the Unix epoch. */
  readonly afterMs: number | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * A page, newest first. It may have fewer entries than `limit` and still have a next one, if the filter matches few
 * entries.
 */
export interface AuditPage {
  readonly items: readonly AuditEntry[];
  readonly nextCursor: string | null;
}
