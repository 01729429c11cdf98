import type { ActorSummary } from '../actors.ts';

/**
 * Where an actor stands: `loading` → `active` ⇄ `backoff` (crashed, waits) → `suspended` (waits for an operator);
 * `restarting` waits for the end of its turn and is `loading` then; `stopping` waits for it too; `stopped` is the end.
 */
export type ActorStatus =
  | 'loading'
  | 'active'
  | 'backoff'
  | 'suspended'
  | 'restarting'
  | 'stopping'
  | 'stopped';

/** What operators are told of it: whether it goes by itself, and what it waits for when it does not. */
export function statusForOperators(status: ActorStatus): ActorSummary['status'] {
  return status === 'backoff' || status === 'suspended' ? status : 'active';
}
