/** Ids below a sender's highest that are remembered. Fewer than these are under way out of order at a time. */
const WINDOW = 1_024;

/** The ids that were received from one sender. */
interface SenderIds {
  highest: number;
  /** 1 if the id was received. The index is the remainder of the id. */
  readonly marks: Uint8Array;
}

/**
 * Distinguishes the first arrival of a request from later ones, by the ids that each sender counts up. An id further
 * below its sender's highest than the window counts as received. Each incarnation that ever sent a request takes 1 KiB
 * until this process ends. If one were forgotten, an attacker could replay its recorded requests.
 */
export class AskedOnce {
  readonly #askers = new Map<string, SenderIds>();

  /** Returns false also for an invalid id. Valid ids are whole numbers from 1 on. */
  isFirst(asker: string, id: number): boolean {
    if (!Number.isSafeInteger(id) || id < 1) return false;
    const ids = this.#askers.get(asker) ?? { highest: 0, marks: new Uint8Array(WINDOW) };
    this.#askers.set(asker, ids);
    if (id <= ids.highest - WINDOW) return false;
    const index = id % WINDOW;
    if (id <= ids.highest && ids.marks[index] === 1) return false;
    const firstId = Math.max(ids.highest + 1, id - WINDOW + 1);
    for (let passedId = firstId; passedId <= id; passedId += 1) ids.marks[passedId % WINDOW] = 0;
    ids.highest = Math.max(ids.highest, id);
    ids.marks[index] = 1;
    return true;
  }
}
