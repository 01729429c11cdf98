import type { WebhookRetry } from '../tenants/webhook-record.ts';
import type { Ended, LateTry } from './tries.ts';

/** Late tries of one endpoint that are on their way, one an event. */
export class LateTries {
  /** By the places of their events, and when what comes of them is stored. */
  readonly #tries = new Map<
    string,
    Pick<LateTry, 'isNew' | 'address'> & { readonly stored: Promise<void> }
  >();

  /** Those that hold a place of the endpoint: not those at an address that it had before. */
  get here(): readonly Pick<LateTry, 'isNew'>[] {
    return [...this.#tries.values()].filter(({ address }) => !address.isFormer);
  }

  /** Those of them that are of events which were sent before. */
  get retries(): number {
    return this.here.filter(({ isNew }) => !isNew).length;
  }

  /** Those of the retries that are not on their way. */
  resting(retries: readonly WebhookRetry[]): readonly WebhookRetry[] {
    return this.#tries.size === 0 ? retries : retries.filter(({ place }) => !this.#tries.has(place));
  }

  /**
   * Keeps a try until what comes of it is stored, and resolves then. `store` may not reject; it is not called where the try
   * may not begin any more when its turn comes.
   */
  keep({ event, isNew, address, end }: LateTry, store: (ended: Ended) => Promise<void>): Promise<void> {
    const place = event.streamId;
    const stored = end.then((ended) => ended && store(ended)).finally(() => this.#tries.delete(place));
    this.#tries.set(place, { isNew, address, stored });
    return stored;
  }

  /** Resolves once what comes of all of them is stored. */
  async allStored(): Promise<void> {
    await Promise.all([...this.#tries.values()].map(({ stored }) => stored));
  }
}
