/** Ids of one asker that are remembered behind its highest: more than are ever on the way to a node out of order. */
const WINDOW = 1_024;

/** The ids that were heard of one asker. */
interface Heard {
  highest: number;
  /** 1 where the id was heard; an id's place is its remainder. */
  readonly marks: Uint8Array;
}

/**
 * Distinguishes the first arrival of a question from later ones, by the ids that each asker counts up. An id that lies
 * further behind its asker's highest than the window counts as heard. Each incarnation that ever asked takes 1 KiB
 * until this process ends: forgetting one would let its recorded questions be asked again.
 */
export class AskedOnce {
  readonly #askers = new Map<string, Heard>();

  /** False also for what is no id: a whole number from 1 on. */
  isFirst(asker: string, id: number): boolean {
    if (!Number.isSafeInteger(id) || id < 1) return false;
    const heard = this.#askers.get(asker) ?? { highest: 0, marks: new Uint8Array(WINDOW) };
    this.#askers.set(asker, heard);
    if (id <= heard.highest - WINDOW) return false;
    const place = id % WINDOW;
    if (id <= heard.highest && heard.marks[place] === 1) return false;
    const from = Math.max(heard.highest + 1, id - WINDOW + 1);
    for (let passed = from; passed <= id; passed += 1) heard.marks[passed % WINDOW] = 0;
    heard.highest = Math.max(heard.highest, id);
    heard.marks[place] = 1;
    return true;
  }
}
