/** The parts of a shop's snapshot that say how it stands. */
interface Standing {
  readonly state?: string;
  readonly status?: string;
  readonly details?: {
    readonly channel?: { readonly state?: string; readonly flagged?: boolean };
    readonly pacing?: { readonly state?: string; readonly heldByOperator?: boolean };
  };
}

/**
 * Every word by which an operator may look for a shop: the channel's state in the contract's word and in the
 * machine's own, the pacing state, the actor's status, `held` by an operator's hand, `flagged` by a lost session.
 */
export function shopStates(actor: Record<string, unknown>): ReadonlySet<string> {
  const { state, status, details } = actor as Standing;
  const words = [state, status, details?.channel?.state, details?.pacing?.state].filter(
    (word) => word !== undefined,
  );
  if (details?.pacing?.heldByOperator) words.push('held');
  if (details?.channel?.flagged) words.push('flagged');
  return new Set(words);
}

/** Which words ask for an operator's eye, and how loudly. */
const TROUBLE: readonly (readonly [word: string, weight: number])[] = [
  ['suspended', 64],
  ['backoff', 32],
  ['flagged', 16],
  ['paused', 8],
  ['held', 4],
  ['reconnecting', 2],
  ['qr_waiting', 1],
];

/** How much a shop asks for an operator's eye; 0: not at all. */
export function troubleOf(actor: Record<string, unknown>): number {
  const states = shopStates(actor);
  return TROUBLE.reduce((sum, [word, weight]) => (states.has(word) ? sum + weight : sum), 0);
}
