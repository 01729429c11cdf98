import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { isBefore } from '../tenants/event-cursor.ts';
import type { StoredEvent } from '../tenants/tenant-event.ts';
import type { WebhookProgress, WebhookRecord, WebhookRetry } from '../tenants/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import type { EndpointPace, EndpointPumpOptions } from './endpoint-pump-options.ts';
import { LateTries } from './late-tries.ts';
import type { Looked } from './progress.ts';
import type { Ended, EndpointAddress, LateTry, Try } from './tries.ts';
import { untilLate } from './until-late.ts';

/**
 * New events of one endpoint that are sent at a time; as many again may be on their way that were sent before. A kill may
 * have them all sent once more.
 */
const AT_A_TIME = 8;
/** Events that wait to be tried again; with more the endpoint gets no new ones, which stay in the stream meanwhile. */
export const MOST_RETRIES = 200;
/** An endpoint that takes longer, or does not answer at all, is slow. */
export const SLOW_MS = 1_000;
/** The outcome of an event whose data is broken: the schedule ends it, and it holds up no other. */
const UNREADABLE: Delivered = { status: null, error: 'the event could not be read', holdMs: null };

/** Whether an endpoint is to get an event: it is of its types and of its shops. */
export function isWanted(
  { types, shops }: Pick<WebhookRecord, 'types' | 'shops'>,
  { type, shopId }: Pick<StoredEvent, 'type' | 'shopId'>,
): boolean {
  return types?.includes(type) !== false && shops?.includes(shopId) !== false;
}

/** What is tried next, and how far the endpoint is looked through with it. */
interface NextTries extends Omit<Looked, 'late'> {
  readonly tries: readonly Try[];
}

/** What came of tries that went out together, and those of which it is not known yet. */
interface SentTries {
  readonly ended: readonly Ended[];
  readonly late: readonly LateTry[];
}

/**
 * The tries of one endpoint: which come next, how they go out, and which are still on their way. Those that go out together
 * wait for one another for no longer than `SLOW_MS`: behind events that hang, the schedule of the others would not hold.
 */
export class EndpointTries {
  readonly #options: EndpointPumpOptions;
  readonly #mayBegin: () => boolean;
  #webhook: WebhookRecord;
  #address: EndpointAddress = { isFormer: false };
  #isNews = true;
  #pace: EndpointPace = 'unknown';
  /** Ends the tries that wait for their turn, one each. */
  readonly #withdrawals = new Set<() => void>();
  /** Has the tries that went out last wait for one another no longer. */
  #cut: () => void = () => undefined;
  readonly #late = new LateTries();

  /** `mayBegin`: whether a try may begin at this moment. */
  constructor(webhook: WebhookRecord, options: EndpointPumpOptions, mayBegin: () => boolean) {
    this.#webhook = webhook;
    this.#options = options;
    this.#mayBegin = mayBegin;
  }

  /** Takes a changed record, which counts from the next event on, and its address from the next try on. */
  update(webhook: WebhookRecord): void {
    const isMoved = webhook.url !== this.#webhook.url;
    this.#webhook = webhook;
    if (isMoved) this.#move();
  }

  /**
   * Begins anew at another address. The tries that wait for their turn end, and their events go among those of an endpoint
   * that was not tried yet. Those under way hold no place any more, and their events wait for what comes of them: the
   * former address may yet take them.
   */
  #move(): void {
    this.#address.isFormer = true;
    this.#address = { isFormer: false };
    this.#pace = 'unknown';
    for (const withdraw of this.#withdrawals) withdraw();
    this.#withdrawals.clear();
    this.#cut();
  }

  /** Has the next look begin with new events. */
  tellNews(): void {
    this.#isNews = true;
  }

  /** Takes the endpoint for a slow one until it answers. */
  expectSlow(): void {
    this.#pace = 'slow';
  }

  /** What is due, the oldest first, and then new events as far as there is room. */
  async next(progress: WebhookProgress, nowMs: number): Promise<NextTries> {
    const { cursor } = progress;
    const most = this.#most;
    const due = this.#late
      .resting(progress.retries)
      .filter(({ dueAtMs }) => dueAtMs <= nowMs)
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, Math.max(0, most - this.#late.retries));
    const tries: Try[] = [];
    const dropped: WebhookRetry[] = [];
    let missedUntilMs: number | undefined;
    for (const retry of due) {
      const { event, missedUntilMs: cutOffMs } = await this.#options.at(retry.place);
      missedUntilMs = cutOffMs ?? missedUntilMs;
      // An erased or long past one goes with its retry, and so does one that the endpoint is not to get. One that was
      // replayed before its turn comes as a new one.
      const isNew = isBefore(cursor, retry.place);
      if (event !== undefined && isWanted(this.#webhook, event) && !isNew)
        tries.push({ event, tries: retry.tries, retry });
      else dropped.push(retry);
    }
    const room = most - this.#late.here.length - tries.length;
    const waiting = progress.retries.length - dropped.length;
    const known = { tries, dropped, cursor, missedUntilMs };
    if (!this.#isNews || room <= 0 || waiting >= MOST_RETRIES) return known;
    this.#isNews = false;
    const read = await this.#options.after(cursor, room, this.#webhook).catch((error) => {
      this.#isNews = true;
      throw error;
    });
    if (read.place === cursor) return known;
    // There may be more behind what was looked at.
    this.#isNews = true;
    const fresh = read.events.map((event): Try => ({ event, tries: 0 }));
    missedUntilMs = read.missedUntilMs ?? missedUntilMs;
    return { tries: [...tries, ...fresh], dropped, cursor: read.place, missedUntilMs };
  }

  /** New events may be there, and there is room for them. */
  mayRead(retries: readonly WebhookRetry[]): boolean {
    return this.#isNews && this.#late.here.length < this.#most && retries.length < MOST_RETRIES;
  }

  /** When the next of these falls due; `Infinity`: none does before one on its way has ended. */
  dueAtMs(retries: readonly WebhookRetry[]): number {
    // While as many are sent once more as may be, the end of one goes on with the next.
    const resting = this.#late.retries < this.#most ? this.#late.resting(retries) : [];
    return Math.min(Number.POSITIVE_INFINITY, ...resting.map((retry) => retry.dueAtMs));
  }

  /**
   * Sends them, and comes back once all have ended, or a while after the first has begun, or when the endpoint moves. Of
   * those that may not begin any more the new ones are told with the late: the cursor goes past them, and they are tried
   * first by the next pump, or at the next address. Undefined where all are such. Rejects with `RuntimeFailure` where an event
   * cannot be read now; nothing is sent then.
   */
  async send(tries: readonly Try[]): Promise<SentTries | undefined> {
    const { clock } = this.#options;
    // All are read before the first is sent: a store that is away must not have the others sent once a second.
    const bodies = await Promise.all(tries.map(({ event }) => this.#body(event)));
    if (!this.#mayBegin()) return undefined;
    const address = this.#address;
    const run = (one: Try, index: number, began: () => void): Promise<Ended | undefined> =>
      this.#try(one, bodies[index], { address, began });
    const cut = new Promise<void>((resolve) => {
      this.#cut = resolve;
    });
    const { ended, ends } = await untilLate(tries, run, { clock, lateMs: SLOW_MS, cut });
    const over = tries.flatMap((one) => ended.get(one) ?? []);
    if (tries.length > 0 && over.length === 0 && ended.size === tries.length) return undefined;
    const dueAtMs = clock.wallMs();
    const late = tries.flatMap((one, index): readonly LateTry[] => {
      const end = ends[index];
      if (end === undefined || ended.get(one) !== undefined) return [];
      const { streamId: place, shopId } = one.event;
      const retry = one.retry ?? { place, shopId, tries: one.tries, dueAtMs };
      return [
        {
          ...one,
          retry,
          address,
          isNew: one.retry === undefined,
          end: end.then((over) => over && { ...over, retry }),
        },
      ];
    });
    this.#learnPace(over);
    // One that goes ahead has begun, or it would not be late.
    if (!address.isFormer && this.#pace === 'unknown' && late.length > 0) this.#pace = 'slow';
    return { ended: over, late };
  }

  /**
   * Holds the place of a late try until what comes of it is stored, and resolves then. `store` may not reject; it is not
   * called where the try may not begin any more when its turn comes.
   */
  keep(late: LateTry, store: (ended: Ended) => Promise<void>): Promise<void> {
    return this.#late.keep(late, (ended) => {
      this.#learnPace([ended]);
      return store(ended);
    });
  }

  /** Resolves once what comes of the late tries is stored. */
  allStored(): Promise<void> {
    return this.#late.allStored();
  }

  async #body(event: StoredEvent): Promise<string | Delivered | undefined> {
    try {
      return await this.#options.body(event);
    } catch (error) {
      if (error instanceof RuntimeFailure) throw error;
      const { id: webhookId } = this.#webhook;
      this.#options.log.error({ webhookId, place: event.streamId, err: error }, 'an event cannot be read');
      return UNREADABLE;
    }
  }

  /**
   * Undefined: the pump ended, or the endpoint moved, while the try waited for its turn. `began` is called when that came.
   * Never rejects.
   */
  async #try(
    one: Try,
    body: string | Delivered | undefined,
    { address, began }: { readonly address: EndpointAddress; readonly began: () => void },
  ): Promise<Ended | undefined> {
    if (typeof body !== 'string')
      return { ...one, address, atMs: this.#options.clock.wallMs(), durationMs: 0, delivered: body };
    return new Promise((resolve) => {
      const withdraw = (): void => resolve(undefined);
      const begin = (): WebhookRecord | undefined => {
        if (address.isFormer) return undefined;
        this.#withdrawals.delete(withdraw);
        began();
        return this.#mayBegin() ? this.#webhook : undefined;
      };
      this.#withdrawals.add(withdraw);
      const sending = this.#options.send(one.event, body, { pace: this.#pace, begin });
      void sending.then((sent) => resolve(sent && { ...one, address, ...sent }));
    });
  }

  /** Of a late try nothing is known before it has ended: it may have waited for its turn among those of other endpoints. */
  #learnPace(ended: readonly Ended[]): void {
    const here = ended.filter(({ address }) => !address.isFormer);
    if (here.length > 0) this.#pace = here.some(isSlow) ? 'slow' : 'quick';
  }

  /** One goes ahead, so that endpoints which turn out to be dead hold few slots of those that are new. */
  get #most(): number {
    return this.#pace === 'unknown' ? 1 : AT_A_TIME;
  }
}

function isSlow({ delivered, durationMs }: Ended): boolean {
  return delivered?.status === null || durationMs > SLOW_MS;
}
