import type { ActorGlance } from './actors.ts';

/**
 * Where an actor stands: `loading` → `active` ⇄ `backoff` (crashed, waits) → `suspended` (waits for an operator);
 * `stopping` waits for the end of its turn; `stopped` is the end.
 */
export type ActorStatus = 'loading' | 'active' | 'backoff' | 'suspended' | 'stopping' | 'stopped';

/** What operators are told of it: whether it goes by itself, and what it waits for when it does not. */
export function statusForOperators(status: ActorStatus): ActorGlance['status'] {
  return status === 'backoff' || status === 'suspended' ? status : 'active';
}
