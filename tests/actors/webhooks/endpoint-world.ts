import { cursorOf, isBefore } from '../../../actors/tenants/stored-events/event-cursor.ts';
import type { StoredEvent } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { placeOf } from '../../../actors/tenants/stored-webhooks/webhook-progress.ts';
import type {
  WebhookAttempt,
  WebhookProgress,
  WebhookRecord,
} from '../../../actors/tenants/stored-webhooks/webhook-record.ts';
import type { DeliveryResult } from '../../../actors/webhooks/deliver.ts';
import { EndpointPump } from '../../../actors/webhooks/endpoint-pump.ts';
import type { EndpointPace } from '../../../actors/webhooks/endpoint-pump-options.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';

/** The result of an attempt that the endpoint accepted. */
export const OK: DeliveryResult = { status: 204, error: null, holdMs: null };
/** Returns the result of an attempt that the endpoint did not accept. */
export const fails = (status: number | null, holdMs: number | null = null): DeliveryResult => ({
  status,
  error: 'no',
  holdMs,
});
/** An endpoint, its stream and its stored progress, over any number of pumps. */
export class World {
  readonly clock = new FakeClock();
  /** The log of all pumps. */
  readonly log = new LineLog();
  /** The clock of the pump. */
  pumpClock: Clock = this.clock;
  readonly stream: StoredEvent[] = [];
  readonly sent: {
    readonly id: string;
    readonly atMs: number;
    readonly url: string;
    readonly pace: EndpointPace;
  }[] = [];
  /** The most attempts that were under way at a time. */
  mostInFlight = 0;
  #inProgress = 0;
  readonly attempts: WebhookAttempt[] = [];
  readonly disabled: string[] = [];
  /** `enabledAtMs` of the records that the pump judged when it disabled the endpoint. */
  readonly judgedStarts: number[] = [];
  readonly missed: number[] = [];
  /** Events from before that time were cut off the stream. If undefined, events that are missing were erased. */
  cutOffMs: number | undefined;
  stored: WebhookProgress | undefined;
  answer: (id: string, url: string) => DeliveryResult | Promise<DeliveryResult> = () => OK;
  /** Called before each attempt with the id of its event. Returns the wait for a slot, or undefined if one is free. */
  untilSlot: (id: string) => Promise<void> | undefined = () => undefined;
  /** Called before each write. Returns the time that the write takes, as a promise. */
  untilStored: () => Promise<void> | undefined = () => undefined;
  /** True if each write fails from now on. */
  isAway = false;
  /** True if the endpoint cannot be disabled. */
  isKept = false;
  /** True if new events cannot be read. */
  isUnread = false;
  /** The error with which new events cannot be read. */
  readError: Error = new RuntimeFailure('STORE_UNAVAILABLE', 'away');
  /** Returns the body of an event, if it can be shown. */
  body: (id: string) => string | undefined = (id) => id;
  pump: EndpointPump | undefined;
  readonly #random: () => number;

  constructor(seed = 1) {
    this.#random = seededRandom(seed);
  }

  add(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const streamId = `${this.clock.wallMs()}-${this.stream.length}`;
      this.stream.push({ type: 'queue.resumed', shopId: 'shop', subject: '{}', streamId });
    }
    this.pump?.wake();
  }

  start(record: Partial<WebhookRecord> = {}): EndpointPump {
    const pump = new EndpointPump(webhookRecord(record), {
      clock: this.pumpClock,
      random: this.#random,
      log: this.log,
      progress: async () => this.stored,
      eventsAfter: async (place, limit) => {
        if (this.isUnread) throw this.readError;
        const events = this.stream.filter(({ streamId }) => isBefore(place, streamId)).slice(0, limit);
        return { events, place: events.at(-1)?.streamId ?? place };
      },
      eventAt: async (place) => {
        const event = this.stream.find(({ streamId }) => streamId === place);
        return { event, missedUntilMs: event === undefined ? this.cutOffMs : undefined };
      },
      body: async ({ streamId }) => this.body(cursorOf(streamId)),
      send: async ({ streamId }, _body, { pace, begin }) => {
        const id = cursorOf(streamId);
        await this.untilSlot(id);
        const url = begin()?.url;
        if (url === undefined) return undefined;
        const atMs = this.clock.wallMs();
        this.sent.push({ id, atMs, url, pace });
        this.#inProgress += 1;
        this.mostInFlight = Math.max(this.mostInFlight, this.#inProgress);
        const result = await this.answer(id, url);
        this.#inProgress -= 1;
        return { result, atMs, durationMs: this.clock.wallMs() - atMs };
      },
      store: async (_id, progress, attempts) => {
        await this.untilStored();
        if (this.isAway || this.pump !== pump) throw new RuntimeFailure('STORE_UNAVAILABLE', 'away');
        this.stored = structuredClone(progress);
        this.attempts.push(...attempts);
        return true;
      },
      onMissed: (_id, untilMs) => void this.missed.push(untilMs),
      disable: async ({ enabledAtMs }, reason) => {
        if (this.isKept) throw new RuntimeFailure('STORE_UNAVAILABLE', 'away');
        this.disabled.push(reason);
        this.judgedStarts.push(enabledAtMs);
        pump.stop();
      },
    });
    this.pump = pump;
    void pump.run();
    return pump;
  }

  /** Ids of the events that were given up. */
  get dead(): string[] | undefined {
    return this.stored?.dead.map((dead) => cursorOf(placeOf(dead)));
  }

  times(id: string): number[] {
    return this.sent.filter((one) => one.id === id).map(({ atMs }) => atMs);
  }
}

/** An endpoint that gets everything from the start on. */
export function webhookRecord(record: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id: 'hook',
    url: '',
    types: null,
    shops: null,
    secret: '',
    former: null,
    since: '0-0',
    createdAtMs: 0,
    enabledAtMs: 0,
    disabled: null,
    ...record,
  };
}
