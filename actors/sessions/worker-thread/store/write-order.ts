import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import { LONGEST_COMPOSING_MS } from '../../session-timing.ts';
import type { SealedHash } from '../../worker-protocol.ts';
import { PendingChange } from './pending-change.ts';

/**
 * How long a change that may be lost waits for another write, in milliseconds. It is the gap between two messages of a
 * shop (at most 20 s), composing, and a margin. So changes after a message go into the commit of the next one.
 */
const LONGEST_WAIT_MS = 20_000 + LONGEST_COMPOSING_MS + 2_500;

/** Changes that wait for their write, and the promise of it. */
interface WaitingWrite {
  readonly change: PendingChange;
  /** Stops waiting for other changes: the write follows once those before it are stored. */
  flush(): void;
  /** Stores the changes instead of `put`, together with a change of its own. Undefined unless `carry` set it. */
  carrier: (() => Promise<void>) | undefined;
  /** Resolves when the changes are stored. */
  readonly written: Promise<void>;
}

interface WriteOrderOptions {
  readonly after: (delayMs: number, act: () => void) => ArmedTimer;
  /** Stores the changes of one write. After one failure every later write fails too. */
  readonly put: (change: PendingChange) => Promise<void>;
}

/**
 * The writes of one shop's sealed hashes, one under way at a time. Changes that arrive meanwhile, or in the same tick
 * of the event loop, go into the next write together, in their order.
 */
export class WriteOrder {
  readonly #options: WriteOrderOptions;
  #tail: Promise<void> = Promise.resolve();
  /** The next write. New changes join it. */
  #next: WaitingWrite | undefined;
  /** Writes without a reply, oldest first. */
  readonly #unanswered = new Set<PendingChange>();

  constructor(options: WriteOrderOptions) {
    this.#options = options;
  }

  /** Returns the next write, made now if there is none. */
  next(): WaitingWrite {
    if (this.#next !== undefined) return this.#next;
    const change = new PendingChange();
    this.#unanswered.add(change);
    let flush: () => void = () => undefined;
    const delay = new Promise<void>((resolve) => {
      const timer = this.#options.after(LONGEST_WAIT_MS, resolve);
      flush = () => {
        timer.cancel();
        resolve();
      };
    });
    const written = this.#tail
      .then(() => delay)
      // All changes of one tick of the event loop are written together.
      .then(() => nextTurn())
      .then(() => {
        if (this.#next === write) this.#next = undefined;
        return write.carrier === undefined ? this.#options.put(change) : write.carrier();
      });
    this.#tail = written.finally(() => this.#unanswered.delete(change));
    // The callers get a failure; the chain's own copies must not count as unhandled.
    this.#tail.catch(() => undefined);
    written.catch(() => undefined);
    const write: WaitingWrite = { change, flush, carrier: undefined, written };
    this.#next = write;
    return write;
  }

  /** Flushes the next write, if there is one, and lets no further change join it. */
  close(): void {
    this.flush();
    this.#next = undefined;
  }

  /** Flushes the next write, if there is one. */
  flush(): void {
    this.#next?.flush();
  }

  /** Resolves when all changes so far are stored. */
  get allWritten(): Promise<void> {
    return this.#next?.written ?? this.#tail;
  }

  /** Resolves when every write so far has a reply, of any kind. */
  async drain(): Promise<void> {
    this.flush();
    await this.#tail.catch(() => undefined);
  }

  /** Runs the work at its position in the order: after the writes so far, and before all later ones. */
  async inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    this.close();
    const result = this.#tail.then(work);
    this.#tail = result.then(
      () => undefined,
      () => undefined,
    );
    return await result;
  }

  /** Returns the value of that field after the writes so far: null for none, undefined if none of them changes it. */
  find(hash: SealedHash, field: string): Uint8Array | null | undefined {
    for (const change of [...this.#unanswered].reverse()) {
      const value = change.find(hash, field);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Returns the fields of the hash that writes without a reply change. */
  fieldsOf(hash: SealedHash): string[] {
    return [...this.#unanswered].flatMap((change) => [...change.fieldsOf(hash)]);
  }
}
