/** The classes of 1:1 recipients (docs/contract.md, Recipient classes). */
export type PersonClass = 'known' | 'declared' | 'cold';

/** The classes of recipients of messages (docs/contract.md, Recipient classes). */
export type RecipientClass = PersonClass | 'group';

/** A tenant's stored declaration of a number, as far as the policy cares. */
export interface DeclarationFact {
  /** The declaration counts before this moment, no longer at it; `null`: it does not expire. */
  readonly expiresAtMs: number | null;
  readonly isRevoked: boolean;
}

/** True while the declaration makes its number `declared`: not revoked and not yet expired. */
export function isDeclarationActive(declaration: DeclarationFact | null, nowMs: number): boolean {
  return (
    declaration !== null &&
    !declaration.isRevoked &&
    (declaration.expiresAtMs === null || nowMs < declaration.expiresAtMs)
  );
}

/** Returns the class at a moment: known beats declared beats cold (docs/contract.md, Recipient classes). */
export function personClassAt(
  facts: {
    readonly isCustomer: boolean;
    readonly lastInboundAtMs: number | null;
    readonly declaration: DeclarationFact | null;
  },
  nowMs: number,
): PersonClass {
  if (facts.isCustomer || facts.lastInboundAtMs !== null) return 'known';
  return isDeclarationActive(facts.declaration, nowMs) ? 'declared' : 'cold';
}
