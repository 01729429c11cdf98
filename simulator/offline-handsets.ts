/** Handsets that are switched off, and their work for when they are on again. Held in memory. */
export class OfflineHandsets {
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();

  /** Keeps the work for a handset that is off. Returns false if it is on; then nothing is kept. */
  keep(phone: string, work: () => Promise<void>): boolean {
    const waiting = this.#waiting.get(phone);
    waiting?.push(work);
    return waiting !== undefined;
  }

  switchOff(phone: string): void {
    if (!this.#waiting.has(phone)) this.#waiting.set(phone, []);
  }

  /** Resolves when the handset has done all waiting work, in order. */
  async switchOn(phone: string): Promise<void> {
    const waiting = this.#waiting.get(phone) ?? [];
    this.#waiting.delete(phone);
    for (const work of waiting) await work();
  }
}
