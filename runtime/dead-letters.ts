import type { Address } from './address.ts';
import type { ObjectId } from './object-id.ts';

/** A client command that made an actor throw. */
export interface DeadLetter {
  readonly id: ObjectId;
  readonly address: Address;
  /** The command, read from JSON. It is `undefined` if no key that is configured here opens it. */
  readonly command: unknown;
  /** The command's `type`, which is not sealed. */
  readonly type: string | undefined;
  /** The error: its class, its code and where it was thrown. */
  readonly cause: string;
  readonly atMs: number;
}

/** The poison commands of all shards, kept for an operator. */
export interface DeadLetters {
  /** Lists the letters of all shards, newest first: those older than the id `after`. */
  list(options?: { readonly limit?: number; readonly after?: string }): Promise<DeadLetter[]>;
  /** Returns the letter with that id from any shard, or `undefined` if there is none. */
  find(id: string): Promise<DeadLetter | undefined>;
  /**
   * Sends the command to the actor again. Call it on the node that owns the shard. The letter is dropped if the command
   * succeeds, or if it throws again and so leaves a new letter. Two requests at once run it once. Resolves with
   * `undefined` if there is no such letter. Rejects and keeps the letter if it is sealed with a key that is not
   * configured here.
   */
  replay(id: string, shard: number): Promise<unknown>;
  /** Returns false if there was no such letter. */
  drop(id: string, shard: number): Promise<boolean>;
  /** Deletes all letters of an actor of this node. They contain texts of its callers. */
  forget(address: Address): Promise<void>;
}
