/** Counts of what one client sent since the simulator started. */
export interface SendCount {
  /** `message` stanzas that were accepted. */
  readonly stanzas: number;
  /** The devices of these stanzas, counted for each stanza. */
  readonly deliveries: number;
  /** `message` stanzas that got lost on their way (the fault `lost`). */
  readonly lost: number;
}

/** Counts what each companion sent. Held in memory. */
export class SendCounts {
  readonly #counts = new Map<string, SendCount>();

  of(companionId: string): SendCount {
    return this.#counts.get(companionId) ?? { stanzas: 0, deliveries: 0, lost: 0 };
  }

  /** Counts a stanza that was accepted for `devices` devices. */
  taken(companionId: string, devices: number): void {
    const count = this.of(companionId);
    const { stanzas, deliveries } = count;
    this.#counts.set(companionId, { ...count, stanzas: stanzas + 1, deliveries: deliveries + devices });
  }

  /** Counts a stanza that got lost. */
  lost(companionId: string): void {
    const count = this.of(companionId);
    this.#counts.set(companionId, { ...count, lost: count.lost + 1 });
  }
}
