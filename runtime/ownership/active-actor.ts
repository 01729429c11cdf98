import type { ActorSnapshot, ActorSummary } from '../actors.ts';
import type { DeactivationReason } from '../behaviour.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** The caller that waits for a command's reply. */
export interface Asker {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  /** The reply if there is no such actor. */
  readonly replyIfAbsent: unknown;
}

/** An actor that is active on this node, as its shard and the node see it. */
export interface ActiveActor {
  /** The last committed state, or `undefined` while none is in memory. */
  readonly state: unknown;
  /** True while the actor is being stopped or loaded again. Its state may not be read or changed then. */
  readonly isEnding: boolean;
  /** True if the actor must live, or has work in progress or waiting. */
  readonly isNeeded: boolean;
  /** True if a hand-over need not wait for the actor. */
  readonly isSettled: boolean;
  /** True if the actor has been idle for long enough and is not needed. */
  mayPassivate(nowMs: number): boolean;
  /** Takes a command, or rejects its caller with the reason. */
  offer(command: unknown, asker?: Asker): void;
  /** Returns the state, at once if it is in memory. `undefined` means that there is no such actor. */
  whenActive(): MaybePromise<unknown>;
  /** The hand-over of the shard begins: client commands are refused, and work in progress is settled. */
  drain(): void;
  /** Refuses the client commands that wait, because the lease has ended. */
  onLeaseExpired(): void;
  /** Called when the lease is valid again and this node still owns the shard. */
  onLeaseRegained(): void;
  /** Forgets that the actor crashed, and starts it again if it is suspended or waits after a crash. */
  resume(): void;
  /** Discards the state and loads it again, after the turn under way and the last turn (`Behaviour.leaving`). */
  restart(): Promise<void>;
  /** Stops the actor, after the turn under way and the last turn (`Behaviour.leaving`). */
  stop(reason: DeactivationReason): Promise<void>;
  /** Stops at once. Callers are refused, because the actor has moved or the outcome is unknown. */
  dispose(reason: DeactivationReason): void;
  /** Returns the actor's figures, without a description of its state. */
  summary(): ActorSummary;
  /** Returns the actor as operators see it. */
  snapshot(owner: { readonly nodeId: string; readonly epoch: number }): ActorSnapshot;
}
