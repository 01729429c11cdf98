import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';
import { Yielder } from '../../../../runtime/yielder.ts';

type Overlay = Map<string, Map<string, unknown>>;

/** The transaction that the work runs in. All sessions share this storage, since Node keeps each that was ever used. */
const currentOverlay = new AsyncLocalStorage<Overlay>();

/** The ids of the network by number. They are facts, not steps, so they are written at once. */
const MAPPING = 'lid-mapping';

/** Stores the steps of sealing. Rejects if they do not count; the sealed message is then not sent. */
export type StoreSealed = (data: SignalDataSet) => Promise<void>;

/** Stores data that may be lost, before or with the next write. No caller waits for it. */
export type StoreLater = (data: SignalDataSet) => void;

/**
 * A piece of work that seals a message for one device. Resolves with the function that settles its caller's promise. If
 * it rejects, that promise is settled already.
 */
type Sealing = () => Promise<Settle>;

/** Settles a caller's promise, once it is known whether its work was stored. */
type Settle = (failure: Error | undefined) => void;

/**
 * The keys behind one session's ratchets, changed by one transaction at a time.
 *
 * The client's own transactions do not work here, for two reasons.
 *
 * - Its send runs in one that commits after the stanza left. A crash in between turns the ratchet back. The next
 *   message is then sealed with a used key, and no phone can read it.
 * - The client finds its transaction through the asynchronous context, which libsignal's queue mixes up. A job that
 *   waits behind another shop's job for the same contact runs in the context of that job.
 *
 * So here a transaction belongs to the store, not to the context. It ends before any ciphertext that it made is passed
 * on.
 */
export class RatchetKeys {
  readonly #store: SignalKeyStore;
  readonly #storeSealed: StoreSealed;
  readonly #storeLater: StoreLater;
  #tail: Promise<unknown> = Promise.resolve();
  /** The changes of the transaction that runs, later ones last; empty if none runs. */
  #layers: readonly Overlay[] = [];
  /** Work to seal joins it until all of it is sealed. */
  #sealings: Sealing[] | undefined;

  constructor(
    store: SignalKeyStore,
    storing: { readonly storeSealed: StoreSealed; readonly storeLater: StoreLater },
  ) {
    this.#store = store;
    this.#storeSealed = storing.storeSealed;
    this.#storeLater = storing.storeLater;
  }

  isInTransaction(): boolean {
    const overlay = this.#layers.at(-1);
    return overlay !== undefined && currentOverlay.getStore() === overlay;
  }

  /**
   * Runs the work alone. Its changes are written when it resolves, and dropped if it throws. Inside another
   * transaction, joins it.
   */
  transaction<T>(work: () => Promise<T>, name: string): Promise<T> {
    // A transaction may wait for a mapping that a caller outside is looking up. That caller must not wait for the
    // transaction.
    if (name === MAPPING || this.isInTransaction()) return work();
    return this.#alone(work, (overlay) => commit(overlay, (data) => this.#store.set(data)));
  }

  /**
   * Runs work as `transaction` does, if nothing outside depends on it before the next write. An example is a new
   * session that sealed nothing yet. It resolves at once, and is written before or with the next write.
   */
  transactionStoredLater<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work, (overlay) => commit(overlay, this.#storeLater));
  }

  /**
   * Seals a message for one device, in a transaction. Work that is started together is stored in one write, and no
   * ciphertext is passed on before. Work that throws undoes only its own changes.
   */
  seal<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const sealing: Sealing = async () => {
        try {
          const result = await work();
          return (failure) => (failure === undefined ? resolve(result) : reject(failure));
        } catch (error) {
          reject(error);
          throw error;
        }
      };
      if (this.#sealings !== undefined) {
        this.#sealings.push(sealing);
        return;
      }
      const sealings = [sealing];
      this.#sealings = sealings;
      this.#tail = this.#tail.then(() => this.#sealAll(sealings));
    });
  }

  async get<T extends keyof SignalDataTypeMap>(
    type: T,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[T] }> {
    const changedKeys = new Map(this.#layers.flatMap((overlay) => [...(overlay.get(type) ?? [])]));
    const missingIds = ids.filter((id) => !changedKeys.has(id));
    const keysFound = { ...(missingIds.length === 0 ? {} : await this.#store.get(type, missingIds)) };
    for (const id of ids) {
      const value = changedKeys.get(id);
      if (value != null) keysFound[id] = value as SignalDataTypeMap[T];
    }
    return keysFound;
  }

  async set(data: SignalDataSet): Promise<void> {
    const overlay = this.#layers.at(-1);
    if (overlay === undefined || MAPPING in data) {
      await this.#store.set(data);
      return;
    }
    for (const [type, entries] of Object.entries(data)) {
      const changedKeys = overlay.get(type) ?? new Map<string, unknown>();
      for (const [id, value] of Object.entries(entries ?? {})) changedKeys.set(id, value);
      overlay.set(type, changedKeys);
    }
  }

  #alone<T>(work: () => Promise<T>, commit: (overlay: Overlay) => Promise<void>): Promise<T> {
    const turn = this.#tail.then(async () => {
      const overlay: Overlay = new Map();
      this.#layers = [overlay];
      try {
        const result = await currentOverlay.run(overlay, work);
        await commit(overlay);
        return result;
      } finally {
        this.#layers = [];
      }
    });
    // The caller gets the failure; the next transaction runs all the same.
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #sealAll(sealings: readonly Sealing[]): Promise<void> {
    const wholeOverlay: Overlay = new Map();
    const settles: Settle[] = [];
    const yielder = new Yielder();
    // The list grows during the iteration.
    for (const sealing of sealings) {
      if (yielder.isOver(true)) {
        // Values that others set meanwhile are stored together with the sealed ones.
        this.#layers = [wholeOverlay];
        await yielder.next();
      }
      const ownOverlay: Overlay = new Map();
      this.#layers = [wholeOverlay, ownOverlay];
      try {
        settles.push(await currentOverlay.run(ownOverlay, sealing));
        for (const [type, entries] of ownOverlay)
          wholeOverlay.set(type, new Map([...(wholeOverlay.get(type) ?? []), ...entries]));
      } catch {
        // The caller's promise was rejected already.
      }
    }
    this.#sealings = undefined;
    this.#layers = [wholeOverlay];
    const failure = await commit(wholeOverlay, this.#storeSealed).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    this.#layers = [];
    for (const settle of settles) settle(failure);
  }
}

async function commit(overlay: Overlay, store: (data: SignalDataSet) => unknown): Promise<void> {
  if (overlay.size === 0) return;
  const data: Record<string, Record<string, unknown>> = {};
  for (const [type, entries] of overlay) data[type] = Object.fromEntries(entries);
  await store(data as SignalDataSet);
}
