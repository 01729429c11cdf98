/**
 * The operators' roles. Each role includes those before it. `read` sees everything but pairing codes, and changes
 * nothing. `operate` controls what runs (connect, pause, resume, replay). `admin` changes accounts and keys, and
 * erases.
 */
export const OPERATOR_ROLES = ['read', 'operate', 'admin'] as const;

/** One of the roles that a named token can have. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The roles of tokens on the operators' listener, the least first. `metrics`: `/metrics` alone, for a scraper. */
export const TOKEN_ROLES = ['metrics', ...OPERATOR_ROLES] as const;

export type TokenRole = (typeof TOKEN_ROLES)[number];

/** True if the role `heldRole` includes `askedRole`. */
export function allows(heldRole: TokenRole, askedRole: TokenRole): boolean {
  return TOKEN_ROLES.indexOf(heldRole) >= TOKEN_ROLES.indexOf(askedRole);
}

export interface Operator {
  readonly name: string;
  readonly role: TokenRole;
}

export interface OperatorToken extends Operator {
  readonly token: string;
}
