import type { Address } from './address.ts';
import type { MaybePromise } from './maybe-promise.ts';

/** One actor as operators see it. It is consistent, because it is read in one step. */
export interface ActorSnapshot {
  readonly address: Address;
  readonly owner: { readonly nodeId: string; readonly epoch: number };
  /** `active` runs; `backoff` waits to be restarted after a crash; `suspended` waits for an operator. */
  readonly status: 'active' | 'backoff' | 'suspended';
  /** The API shows these fields. `oldestQueuedMs` is how long the oldest client command has waited. */
  readonly mailbox: { readonly depth: number; readonly bytes: number; readonly oldestQueuedMs: number };
  readonly timers: readonly { readonly id: string; readonly dueAtMs: number }[];
  readonly restarts: number;
  readonly lastError: { readonly atMs: number; readonly message: string } | undefined;
  /** The behaviour's description of its state; undefined while none is in memory. */
  readonly state: Record<string, unknown> | undefined;
}

/** The figures of an actor that need no description of its state, cheap enough to read for thousands of actors. */
export interface ActorSummary extends Pick<ActorSnapshot, 'address' | 'status' | 'restarts'> {
  readonly mailboxDepth: number;
  /** How long the oldest command of a caller has waited, in milliseconds. */
  readonly oldestCommandAgeMs: number;
  /** The last committed state, or `undefined` while none is in memory. Read it at once. */
  readonly state: unknown;
}

/**
 * The actors of this node, as the layers above use them. Addresses of a shard that this node does not own reject
 * with `SHARD_NOT_OWNED`. All rejections are `RuntimeFailure`.
 */
export interface Actors {
  /**
   * Gives the actor a command. Resolves with the turn's reply once it is committed. If there is no such actor,
   * resolves with `replyIfAbsent` (default: `undefined`).
   */
  ask<Reply>(address: Address, command: unknown): Promise<Reply | undefined>;
  ask<Reply>(address: Address, command: unknown, replyIfAbsent: Reply): Promise<Reply>;
  /**
   * Like `ask` without a reply; a command that is refused at once is logged. Use it for session events and other
   * control messages.
   */
  tell(address: Address, command: unknown): void;
  /**
   * Returns the last committed state, at once if the actor is active. Otherwise it activates the actor. `undefined`
   * means that there is no such actor.
   */
  state<State>(address: Address): MaybePromise<State | undefined>;
  /** Like `state` for an actor that is active here, without waiting. */
  peek<State>(address: Address): State | undefined;
  /** True if this node owns the shard and its lease is still valid now. Check it before a reply is released. */
  owns(shard: number): boolean;
  /**
   * Visits each actor that is active here or suspended, in slices of a quarter of a millisecond. It shows each actor as
   * it is at the call or later.
   */
  each(visit: (summary: ActorSummary) => void): Promise<void>;
  snapshot(address: Address): ActorSnapshot | undefined;
  /** Forgets a crash count, and starts an actor again that is suspended or waits after a crash. */
  resume(address: Address): Promise<void>;
  /** Drops the state in memory and loads it again. */
  restart(address: Address): Promise<void>;
  /**
   * Stops an actor here. Returns `refused` if it must live or has work to do. With `isForced` (erasure), it stops the
   * actor in any state, after the current turn.
   */
  passivate(address: Address, options?: { readonly isForced?: boolean }): Promise<'passivated' | 'refused'>;
}
