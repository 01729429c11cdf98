import { AsyncLocalStorage } from 'node:async_hooks';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

type Overlay = Map<string, Map<string, unknown>>;

/** Whose transaction work runs in; one for all sessions, since Node keeps each storage that was ever used. */
const inside = new AsyncLocalStorage<Overlay>();

/** Which number belongs to which id of the network: facts, not steps, so they are written as they come. */
const MAPPING = 'lid-mapping';

/** Stores the steps that sealing took; rejects where they count for nothing, and what was sealed goes to nobody. */
export type StoreSealed = (data: SignalDataSet) => Promise<void>;

/** Stores what may be lost, before or with whatever is stored next; nobody hears when. */
export type StoreUnhurried = (data: SignalDataSet) => void;

/** A piece of work that seals a message for one device. Resolves with what tells its caller; where it rejects, the caller was told. */
type Sealing = () => Promise<Told>;

/** Tells a caller what came of its work, once it is known whether it was stored. */
type Told = (failure: Error | undefined) => void;

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
  readonly #storeSealed: StoreSealed;
  readonly #storeUnhurried: StoreUnhurried;
  #tail: Promise<unknown> = Promise.resolve();
  /** What the transaction that runs has changed, later changes last; empty: none runs. */
  #layers: readonly Overlay[] = [];
  /** Joined by what is to be sealed until all of it was. */
  #sealings: Sealing[] | undefined;

  /** Without ways of its own, what was sealed and what may wait is stored as all else is. */
  constructor(
    store: SignalKeyStore,
    ways: { readonly storeSealed?: StoreSealed; readonly storeUnhurried?: StoreUnhurried } = {},
  ) {
    this.#store = store;
    this.#storeSealed = ways.storeSealed ?? (async (data) => store.set(data));
    this.#storeUnhurried = ways.storeUnhurried ?? ((data) => void store.set(data));
  }

  isInTransaction(): boolean {
    const overlay = this.#layers.at(-1);
    return overlay !== undefined && inside.getStore() === overlay;
  }

  /** Runs the work alone; what it set is written when it resolved, dropped when it threw. Inside another, joins it. */
  transaction<T>(work: () => Promise<T>, name: string): Promise<T> {
    // A transaction may wait for a mapping that somebody outside is looking up: that one must not wait for it in turn.
    if (name === MAPPING || this.isInTransaction()) return work();
    return this.#alone(work, (overlay) => commit(overlay, (data) => this.#store.set(data)));
  }

  /**
   * The same for work that nobody hears of before the next thing is stored, as a new session that nothing was sealed
   * with: it resolves at once, and is written before or with whatever comes after.
   */
  unhurried<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work, (overlay) => commit(overlay, this.#storeUnhurried));
  }

  /**
   * The same for sealing a message, once for each device: what is asked for together is stored in one write, and no
   * ciphertext is handed to anyone before. Work that throws takes back what it set itself, not what others did.
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
    const changed = new Map(this.#layers.flatMap((overlay) => [...(overlay.get(type) ?? [])]));
    const missing = ids.filter((id) => !changed.has(id));
    const found = { ...(missing.length === 0 ? {} : await this.#store.get(type, missing)) };
    for (const id of ids) {
      const value = changed.get(id);
      if (value != null) found[id] = value as SignalDataTypeMap[T];
    }
    return found;
  }

  async set(data: SignalDataSet): Promise<void> {
    const overlay = this.#layers.at(-1);
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

  #alone<T>(work: () => Promise<T>, commit: (overlay: Overlay) => Promise<void>): Promise<T> {
    const turn = this.#tail.then(async () => {
      const overlay: Overlay = new Map();
      this.#layers = [overlay];
      try {
        const result = await inside.run(overlay, work);
        await commit(overlay);
        return result;
      } finally {
        this.#layers = [];
      }
    });
    // The caller hears of a failure; whoever is next in line goes on.
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #sealAll(sealings: readonly Sealing[]): Promise<void> {
    const all: Overlay = new Map();
    const told: Told[] = [];
    // It grows while it is gone through.
    for (const sealing of sealings) {
      const own: Overlay = new Map();
      this.#layers = [all, own];
      try {
        told.push(await inside.run(own, sealing));
        for (const [type, entries] of own) all.set(type, new Map([...(all.get(type) ?? []), ...entries]));
      } catch {
        // Whoever asked was told.
      }
    }
    this.#sealings = undefined;
    this.#layers = [all];
    const failure = await commit(all, this.#storeSealed).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    this.#layers = [];
    for (const tell of told) tell(failure);
  }
}

async function commit(overlay: Overlay, store: (data: SignalDataSet) => unknown): Promise<void> {
  if (overlay.size === 0) return;
  const data: Record<string, Record<string, unknown>> = {};
  for (const [type, entries] of overlay) data[type] = Object.fromEntries(entries);
  await store(data as SignalDataSet);
}
