import type { ActorSnapshot, ActorSummary } from '../actors.ts';
import type { Address } from '../address.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import {
  movedAwayFailure,
  type RuntimeFailure,
  suspendedFailure,
  unavailableFailure,
} from '../runtime-failure.ts';
import type { Envelope, Mailbox } from './mailbox.ts';

/**
 * An actor's status: `loading` → `active`. A crash in either leads to `backoff`, and after a wait to `loading` again.
 * One crash too many leads to `suspended` instead. An operator ends that, and it becomes `loading`. Two wait for the
 * end of a turn: `restarting`, which becomes `loading`, and `stopping`. `stopped` is the end.
 */
export type ActorStatus =
  | 'loading'
  | 'active'
  | 'backoff'
  | 'suspended'
  | 'restarting'
  | 'stopping'
  | 'stopped';

/**
 * Returns the reason why an actor with this status takes no command of this lane now. `isWaiting` is true while its
 * timer runs, for Redis or a restart.
 */
export function commandRefusal(
  lane: Envelope['lane'],
  status: ActorStatus,
  shard: Pick<OwnedShard, 'isDraining' | 'isInDoubt'>,
  isWaiting: boolean,
): RuntimeFailure | undefined {
  if (status === 'suspended') return suspendedFailure();
  if (status === 'stopped') return movedAwayFailure();
  if (lane === 'control') return undefined;
  if (shard.isDraining) return movedAwayFailure();
  const waitsForStore = isWaiting && status !== 'backoff';
  return shard.isInDoubt || waitsForStore ? unavailableFailure('Redis does not answer') : undefined;
}

/** Returns the status that operators see: `backoff`, `suspended`, or `active` for all others. */
function statusForOperators(status: ActorStatus): ActorSummary['status'] {
  return status === 'backoff' || status === 'suspended' ? status : 'active';
}

/** Returns an actor's figures. `nowMs` is monotonic. */
export function summaryOf(
  address: Address,
  status: ActorStatus,
  {
    mailbox,
    restarts,
    state,
  }: { readonly mailbox: Mailbox; readonly restarts: number; readonly state: unknown },
  nowMs: number,
): ActorSummary {
  const { depth: mailboxDepth } = mailbox;
  const oldestCommandAgeMs = mailbox.oldestCommandAgeMs(nowMs);
  return { address, status: statusForOperators(status), mailboxDepth, oldestCommandAgeMs, restarts, state };
}

/** Makes a snapshot from a summary and the fields that only a snapshot has. */
export function snapshotOf(
  { mailboxDepth, oldestCommandAgeMs, state, ...seen }: ActorSummary,
  moreFields: Pick<ActorSnapshot, 'owner' | 'timers' | 'lastError'> & {
    readonly mailboxBytes: number;
    readonly describe: (state: unknown) => Record<string, unknown>;
  },
): ActorSnapshot {
  const { mailboxBytes, describe, ...otherFields } = moreFields;
  return {
    ...seen,
    ...otherFields,
    mailbox: { depth: mailboxDepth, bytes: mailboxBytes, oldestQueuedMs: oldestCommandAgeMs },
    state: state === undefined ? undefined : describe(state),
  };
}
