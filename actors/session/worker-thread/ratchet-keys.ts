import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

type Overlay = Map<string, Map<string, unknown>>;

/** Whose transaction work runs in; one for all sessions, since Node keeps each storage that was ever used. */
const inside = new AsyncLocalStorage<Overlay>();

/** Which number belongs to which id of the network: facts, not steps, so they are written as they come. */
const MAPPING = 'lid-mapping';

/**
 * The keys behind one session's ratchets, changed by one transaction at a time.
 *
 * The client's own transactions do not do here. Its send runs in one that commits after the stanza left: a crash in
 * between turns the ratchet back and the next message is sealed with a key already used, which no handset can read.
 * And it finds the transaction it is in through the asynchronous context, which libsignal's queue mixes up: a job
 * waiting behind another shop's job for the same contact runs in that one's context. So here a transaction belongs to
 * the store, not to the context, and is over before the ciphertext it made is handed to anyone.
 */
export class RatchetKeys {
  readonly #store: SignalKeyStore;
  #tail: Promise<unknown> = Promise.resolve();
  #overlay: Overlay | undefined;

  constructor(store: SignalKeyStore) {
    this.#store = store;
  }

  isInTransaction(): boolean {
    return this.#overlay !== undefined && inside.getStore() === this.#overlay;
  }

  /** Runs the work alone; what it set is written when it resolved, dropped when it threw. Inside another, joins it. */
  transaction<T>(work: () => Promise<T>, name: string): Promise<T> {
    // A transaction may wait for a mapping that somebody outside is looking up: that one must not wait for it in turn.
    if (name === MAPPING || this.isInTransaction()) return work();
    const turn = this.#tail.then(() => this.#run(work));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async get<T extends keyof SignalDataTypeMap>(
    type: T,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[T] }> {
    const changed = this.#overlay?.get(type);
    const missing = ids.filter((id) => !changed?.has(id));
    const found = { ...(missing.length === 0 ? {} : await this.#store.get(type, missing)) };
    for (const id of ids) {
      const value = changed?.get(id);
      if (value != null) found[id] = value as SignalDataTypeMap[T];
    }
    return found;
  }

  async set(data: SignalDataSet): Promise<void> {
    const overlay = this.#overlay;
    if (overlay === undefined || MAPPING in data) {
      await this.#store.set(data);
      return;
    }
    for (const [type, entries] of Object.entries(data)) {
      const changed = overlay.get(type) ?? new Map<string, unknown>();
      for (const [id, value] of Object.entries(entries ?? {})) changed.set(id, value);
      overlay.set(type, changed);
    }
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    const overlay: Overlay = new Map();
    this.#overlay = overlay;
    try {
      const result = await inside.run(overlay, work);
      await this.#commit(overlay);
      return result;
    } finally {
      this.#overlay = undefined;
    }
  }

  async #commit(overlay: Overlay): Promise<void> {
    if (overlay.size === 0) return;
    const data: Record<string, Record<string, unknown>> = {};
    for (const [type, entries] of overlay) data[type] = Object.fromEntries(entries);
    await this.#store.set(data as SignalDataSet);
  }
}
