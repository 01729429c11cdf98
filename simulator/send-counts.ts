/** Counts of what one client sent since the simulator started. */
export interface SendCount {
  /** `message` stanzas that were taken. */
  readonly stanzas: number;
  /** Devices that these were for, each stanza counted by itself. */
  readonly deliveries: number;
}

/** Counts what each companion sent. Held in memory. */
export class SendCounts {
  readonly #counts = new Map<string, SendCount>();

  of(companionId: string): SendCount {
    return this.#counts.get(companionId) ?? { stanzas: 0, deliveries: 0 };
  }

  /** A stanza was taken for so many devices. */
  taken(companionId: string, devices: number): void {
    const { stanzas, deliveries } = this.of(companionId);
    this.#counts.set(companionId, { stanzas: stanzas + 1, deliveries: deliveries + devices });
  }
}
