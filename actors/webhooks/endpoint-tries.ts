import type { StoredEvent } from '../tenants/tenant-event.ts';
import type { WebhookRecord, WebhookRetry } from '../tenants/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import type { EndpointPace, EndpointPumpOptions, SentEvent } from './endpoint-pump-options.ts';

/**
 * New events of one endpoint that are sent at a time; as many again may be under way that were sent before. A kill may
 * have them all sent once more.
 */
const AT_A_TIME = 8;
/** An endpoint that takes longer, or does not answer at all, is slow. */
export const SLOW_MS = 1_000;

/** The address of an endpoint for as long as it has it; one that it gets back is another. */
interface EndpointAddress {
  /** The endpoint has moved to another address, so the result of this try does not apply to it. */
  isFormer: boolean;
}

/** An event that is to be tried now. */
export interface Try {
  readonly event: StoredEvent;
  /** Its entry in the progress. */
  readonly retry: WebhookRetry;
  /** It was never tried, nor replayed. */
  readonly isNew: boolean;
}

/** One try that is over, and what came of it. */
export interface Ended extends Try {
  readonly address: EndpointAddress;
  readonly atMs: number;
  readonly durationMs: number;
  /** Undefined: there is nothing to show of the event any more. */
  readonly delivered: Delivered | undefined;
}

/** A try from when it asks for its turn until what came of it is taken. */
interface Underway extends Pick<Try, 'isNew'> {
  readonly address: EndpointAddress;
  hasBegun: boolean;
}

/** The tries of one endpoint that are under way, one an event, and how many more may begin. */
export class EndpointTries {
  readonly #options: Pick<EndpointPumpOptions, 'clock' | 'send'>;
  readonly #mayBegin: () => boolean;
  readonly #changed: () => void;
  /** By the places of their events. */
  readonly #underway = new Map<string, Underway>();
  #ended: Ended[] = [];
  #webhook: WebhookRecord;
  #address: EndpointAddress = { isFormer: false };
  #pace: EndpointPace = 'unknown';

  /** `mayBegin`: whether a try may begin at this moment. `changed` is called when one has ended, or more may begin. */
  constructor(
    webhook: WebhookRecord,
    options: Pick<EndpointPumpOptions, 'clock' | 'send'>,
    on: { readonly mayBegin: () => boolean; readonly changed: () => void },
  ) {
    this.#webhook = webhook;
    this.#options = options;
    this.#mayBegin = on.mayBegin;
    this.#changed = on.changed;
  }

  /**
   * Takes a changed record. If the address changed, it starts again: waiting tries are withdrawn, and their events may
   * be tried there. The former address may still accept the tries in flight: their events wait for the end.
   */
  update(webhook: WebhookRecord): void {
    const isMoved = webhook.url !== this.#webhook.url;
    this.#webhook = webhook;
    if (!isMoved) return;
    this.#address.isFormer = true;
    this.#address = { isFormer: false };
    this.#pace = 'unknown';
    for (const [place, { hasBegun }] of this.#underway) if (!hasBegun) this.#underway.delete(place);
  }

  /** Takes the endpoint for a slow one until it answers. */
  expectSlow(): void {
    this.#pace = 'slow';
  }

  /** No try is under way, and what came of each is taken. */
  get areOver(): boolean {
    return this.#underway.size === 0;
  }

  /** How many more new events may be sent. */
  get room(): number {
    return this.#most - this.#here.length;
  }

  /** How many more events may be retried. */
  get roomAgain(): number {
    return this.#most - this.#here.filter(({ isNew }) => !isNew).length;
  }

  /** Those of the entries that are not under way. */
  resting(retries: readonly WebhookRetry[]): readonly WebhookRetry[] {
    return this.#underway.size === 0 ? retries : retries.filter(({ place }) => !this.#underway.has(place));
  }

  /** Sends an event when its turn has come. `body`: what is sent, or the outcome of an event that cannot be. */
  begin(one: Try, body: string | Delivered | undefined): void {
    const place = one.event.streamId;
    const address = this.#address;
    const underway: Underway = { isNew: one.isNew, address, hasBegun: false };
    this.#underway.set(place, underway);
    if (typeof body !== 'string') {
      const atMs = this.#options.clock.wallMs();
      this.#end({ ...one, address, atMs, durationMs: 0, delivered: body });
      return;
    }
    void this.#send(one, body, underway).then((sent) => {
      if (sent !== undefined) {
        if (!address.isFormer) this.#pace = isSlow(sent) ? 'slow' : 'quick';
        this.#end({ ...one, address, ...sent });
      } else if (this.#underway.get(place) === underway) {
        this.#underway.delete(place);
        this.#changed();
      }
    });
  }

  /**
   * Returns the results of tries since the last call. Until then they count as in flight: their events are not tried
   * again.
   */
  takeEnded(): readonly Ended[] {
    const ended = this.#ended;
    this.#ended = [];
    for (const { event } of ended) this.#underway.delete(event.streamId);
    return ended;
  }

  /** Undefined: the pump ended, or the endpoint moved, before the turn came. Never rejects. */
  async #send({ event }: Try, body: string, underway: Underway): Promise<SentEvent | undefined> {
    const { clock } = this.#options;
    const begin = (): WebhookRecord | undefined => {
      if (underway.address.isFormer || !this.#mayBegin()) return undefined;
      underway.hasBegun = true;
      if (this.#pace === 'unknown') {
        clock.after(SLOW_MS, () => {
          if (underway.address.isFormer || this.#pace !== 'unknown') return;
          this.#pace = 'slow';
          this.#changed();
        });
      }
      return this.#webhook;
    };
    return this.#options.send(event, body, { pace: this.#pace, begin });
  }

  #end(ended: Ended): void {
    this.#ended.push(ended);
    this.#changed();
  }

  /** Tries that count for the present address. */
  get #here(): readonly Underway[] {
    return [...this.#underway.values()].filter(({ address }) => !address.isFormer);
  }

  /** Only one try runs until the first answer, so that new endpoints that turn out dead use few slots. */
  get #most(): number {
    return this.#pace === 'unknown' ? 1 : AT_A_TIME;
  }
}

function isSlow({ delivered, durationMs }: SentEvent): boolean {
  return delivered.status === null || durationMs > SLOW_MS;
}
