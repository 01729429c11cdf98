/**
 * What an operator may do; each role may do what those before it may. `read` looks at everything and changes nothing;
 * `operate` steers what runs (connect, pause, resume, replay); `admin` changes accounts and keys, and erases.
 */
export const OPERATOR_ROLES = ['read', 'operate', 'admin'] as const;

/** One of the roles that a named token can have. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What a token of the operators' listener is good for, the least first. `metrics`: `/metrics` alone, for a scraper. */
export const TOKEN_ROLES = ['metrics', ...OPERATOR_ROLES] as const;

/** One of them. */
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** Whether who has the role may do what asks for another. */
export function allows(held: TokenRole, asked: TokenRole): boolean {
  return TOKEN_ROLES.indexOf(held) >= TOKEN_ROLES.indexOf(asked);
}

/** Who asks on the operators' listener. */
export interface Operator {
  readonly name: string;
  readonly role: TokenRole;
}

/** An operator and the token that proves it. */
export interface OperatorToken extends Operator {
  readonly token: string;
}
