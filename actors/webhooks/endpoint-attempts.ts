import type { StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import type { WebhookRecord, WebhookRetry } from '../tenants/stored-webhooks/webhook-record.ts';
import type { DeliveryResult } from './deliver.ts';
import type { EndpointPace, EndpointPumpOptions, SentEvent } from './endpoint-pump-options.ts';

/**
 * New events of one endpoint that are sent at a time. Beside these, as many retries may be under way. A kill may have
 * all of them sent again.
 */
const AT_A_TIME = 8;
/** An endpoint that takes longer, or does not answer at all, is slow. */
export const SLOW_MS = 1_000;

/** One stay of an endpoint at an address. If the endpoint returns to an address, that is another stay. */
interface AddressStay {
  /** True if the endpoint has moved since. The result of an attempt there does not apply to the present address. */
  isFormer: boolean;
}

/** An event to attempt now. */
export interface Attempt {
  readonly event: StoredEvent;
  /** Its entry in the progress. */
  readonly retry: WebhookRetry;
  /** True if it was neither attempted nor replayed before. */
  readonly isNew: boolean;
}

/** One attempt that has ended, and its result. */
export interface EndedAttempt extends Attempt {
  readonly address: AddressStay;
  readonly atMs: number;
  readonly durationMs: number;
  /** Undefined if the event's data was removed. */
  readonly result: DeliveryResult | undefined;
}

/** An attempt, from its request for a slot until its result is taken. */
interface AttemptUnderWay extends Pick<Attempt, 'isNew'> {
  readonly address: AddressStay;
  hasBegun: boolean;
}

/** The attempts of one endpoint under way, one an event, and the number of further ones that may begin. */
export class EndpointAttempts {
  readonly #options: Pick<EndpointPumpOptions, 'clock' | 'send'>;
  readonly #mayBegin: () => boolean;
  readonly #changed: () => void;
  /** By the positions of their events. */
  readonly #underWay = new Map<string, AttemptUnderWay>();
  #ended: EndedAttempt[] = [];
  #webhook: WebhookRecord;
  #address: AddressStay = { isFormer: false };
  #pace: EndpointPace = 'unknown';

  /**
   * `mayBegin` returns true if an attempt may begin now. `onChanged` is called when one has ended, or more may begin.
   */
  constructor(
    webhook: WebhookRecord,
    options: Pick<EndpointPumpOptions, 'clock' | 'send'>,
    callbacks: { readonly mayBegin: () => boolean; readonly onChanged: () => void },
  ) {
    this.#webhook = webhook;
    this.#options = options;
    this.#mayBegin = callbacks.mayBegin;
    this.#changed = callbacks.onChanged;
  }

  /**
   * Takes a changed record. If the address changed, it starts again: waiting attempts are withdrawn, and their events
   * may be sent to the new one. The former address may still accept the attempts under way: their events wait for the
   * end.
   */
  update(webhook: WebhookRecord): void {
    const isMoved = webhook.url !== this.#webhook.url;
    this.#webhook = webhook;
    if (!isMoved) return;
    this.#address.isFormer = true;
    this.#address = { isFormer: false };
    this.#pace = 'unknown';
    for (const [place, { hasBegun }] of this.#underWay) if (!hasBegun) this.#underWay.delete(place);
  }

  /** Treats the endpoint as slow until it answers quickly. */
  expectSlow(): void {
    this.#pace = 'slow';
  }

  /** True if no attempt is under way, and every result is taken. */
  get areOver(): boolean {
    return this.#underWay.size === 0;
  }

  /** How many more new events may be sent. */
  get room(): number {
    return this.#most - this.#here.length;
  }

  /** How many more events may be retried. */
  get roomAgain(): number {
    return this.#most - this.#here.filter(({ isNew }) => !isNew).length;
  }

  /** Returns the entries without an attempt under way. */
  retriesAtRest(retries: readonly WebhookRetry[]): readonly WebhookRetry[] {
    return this.#underWay.size === 0 ? retries : retries.filter(({ place }) => !this.#underWay.has(place));
  }

  /** Sends an event once a slot is free. `body` is the text to send, or the result for an event that cannot be sent. */
  begin(attempt: Attempt, body: string | DeliveryResult | undefined): void {
    const place = attempt.event.streamId;
    const address = this.#address;
    const attemptUnderWay: AttemptUnderWay = { isNew: attempt.isNew, address, hasBegun: false };
    this.#underWay.set(place, attemptUnderWay);
    if (typeof body !== 'string') {
      const atMs = this.#options.clock.wallMs();
      this.#end({ ...attempt, address, atMs, durationMs: 0, result: body });
      return;
    }
    void this.#send(attempt, body, attemptUnderWay).then((sentEvent) => {
      if (sentEvent !== undefined) {
        if (!address.isFormer) this.#pace = isSlow(sentEvent) ? 'slow' : 'quick';
        this.#end({ ...attempt, address, ...sentEvent });
      } else if (this.#underWay.get(place) === attemptUnderWay) {
        this.#underWay.delete(place);
        this.#changed();
      }
    });
  }

  /**
   * Returns the results of attempts since the last call. Until then they count as under way: their events are not
   * retried.
   */
  takeEnded(): readonly EndedAttempt[] {
    const endedAttempts = this.#ended;
    this.#ended = [];
    for (const { event } of endedAttempts) this.#underWay.delete(event.streamId);
    return endedAttempts;
  }

  /** Resolves with undefined if the loop ended, or the endpoint moved, before a slot was free. Never rejects. */
  async #send(
    { event }: Attempt,
    body: string,
    attemptUnderWay: AttemptUnderWay,
  ): Promise<SentEvent | undefined> {
    const { clock } = this.#options;
    const begin = (): WebhookRecord | undefined => {
      if (attemptUnderWay.address.isFormer || !this.#mayBegin()) return undefined;
      attemptUnderWay.hasBegun = true;
      if (this.#pace === 'unknown') {
        clock.after(SLOW_MS, () => {
          if (attemptUnderWay.address.isFormer || this.#pace !== 'unknown') return;
          this.#pace = 'slow';
          this.#changed();
        });
      }
      return this.#webhook;
    };
    return this.#options.send(event, body, { pace: this.#pace, begin });
  }

  #end(endedAttempt: EndedAttempt): void {
    this.#ended.push(endedAttempt);
    this.#changed();
  }

  /** The attempts that count for the present address. */
  get #here(): readonly AttemptUnderWay[] {
    return [...this.#underWay.values()].filter(({ address }) => !address.isFormer);
  }

  /** Few attempts run until the pace is known, so that new endpoints use few slots. */
  get #most(): number {
    return this.#pace === 'unknown' ? 1 : AT_A_TIME;
  }
}

function isSlow({ result, durationMs }: SentEvent): boolean {
  return result.status === null || durationMs > SLOW_MS;
}
