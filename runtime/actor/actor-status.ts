import type { ActorSnapshot, ActorSummary } from '../actors.ts';

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

/** A snapshot from a summary and what only a snapshot tells. */
export function snapshotOf(
  { mailboxDepth, oldestQueuedMs, state, ...seen }: ActorSummary,
  more: Pick<ActorSnapshot, 'owner' | 'timers' | 'lastError'> & {
    readonly mailboxBytes: number;
    readonly describe: (state: unknown) => Record<string, unknown>;
  },
): ActorSnapshot {
  const { mailboxBytes, describe, ...rest } = more;
  return {
    ...seen,
    ...rest,
    mailbox: { depth: mailboxDepth, bytes: mailboxBytes, oldestQueuedMs },
    state: state === undefined ? undefined : describe(state),
  };
}
