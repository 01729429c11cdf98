import type { Lane, RuntimeCommand } from '../behaviour.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { RuntimeCounters } from '../observer.ts';
import type { Asker } from '../ownership/active-actor.ts';
import { mailboxFullFailure, type RuntimeFailure, waitedTooLongFailure } from '../runtime-failure.ts';
import type { AnyBehaviour } from './actor-surroundings.ts';

/** The reason for a turn: a command, or one of the runtime's own occasions. */
export type EnvelopeKind =
  | 'command'
  | 'timer'
  | 'activated'
  | 'reactivated'
  | 'draining'
  | 'leaving'
  | 'sync';

/** A command in the mailbox, with the caller that waits for it. */
export interface Envelope {
  readonly kind: EnvelopeKind;
  readonly command: unknown;
  readonly lane: Lane;
  readonly bytes: number;
  /** Monotonic. */
  readonly queuedAtMs: number;
  readonly asker: Asker | undefined;
}

/** Returns an envelope for a command, in the lane that the behaviour gives it. */
export function commandEnvelope(
  command: unknown,
  behaviour: Pick<AnyBehaviour, 'lane' | 'size'>,
  queuedAtMs: number,
  asker: Asker | undefined,
): Envelope {
  const lane = behaviour.lane(command);
  const bytes = lane === 'client' ? behaviour.size(command) : 0;
  return { kind: 'command', command, lane, bytes, queuedAtMs, asker };
}

/** Makes an envelope from the runtime itself. */
export function ownEnvelope(
  kind: Exclude<EnvelopeKind, 'command'>,
  command: RuntimeCommand | undefined,
  queuedAtMs: number,
): Envelope {
  return { kind, command, lane: 'control', bytes: 0, queuedAtMs, asker: undefined };
}

/**
 * The commands that wait for one actor, in two lanes. Control commands go first, and no bound refuses them. Client
 * commands are bounded by count, bytes and age. So a slow actor costs little memory, and a caller waits a bounded time.
 */
export class Mailbox {
  readonly #limits: RuntimeLimits;
  readonly #counters: RuntimeCounters;
  readonly #control: Envelope[] = [];
  readonly #client: Envelope[] = [];
  #clientBytes = 0;

  constructor(options: { readonly limits: RuntimeLimits; readonly counters: RuntimeCounters }) {
    this.#limits = options.limits;
    this.#counters = options.counters;
  }

  get depth(): number {
    return this.#control.length + this.#client.length;
  }

  get hasClients(): boolean {
    return this.#client.length > 0;
  }

  get bytes(): number {
    return this.#clientBytes;
  }

  /** Returns how long the oldest client command has waited, or 0 if none waits. */
  oldestCommandAgeMs(nowMs: number): number {
    const [oldest] = this.#client;
    return oldest === undefined ? 0 : nowMs - oldest.queuedAtMs;
  }

  /**
   * True if an envelope would be taken next, so that it need not be put in. The mailbox is then empty, and the envelope
   * fits.
   */
  passes(envelope: Envelope): boolean {
    return this.depth === 0 && envelope.bytes <= this.#limits.mailboxBytes;
  }

  /** Puts an envelope in. Returns a `MAILBOX_FULL` failure if it does not fit. */
  offer(envelope: Envelope): RuntimeFailure | undefined {
    if (envelope.lane === 'control') {
      this.#control.push(envelope);
      return undefined;
    }
    const { mailboxCount, mailboxBytes, mailboxAgeMs } = this.#limits;
    if (
      this.#client.length >= mailboxCount ||
      this.#clientBytes + envelope.bytes > mailboxBytes ||
      this.oldestCommandAgeMs(envelope.queuedAtMs) > mailboxAgeMs
    ) {
      this.#counters.mailboxRefusals += 1;
      return mailboxFullFailure();
    }
    this.#client.push(envelope);
    this.#clientBytes += envelope.bytes;
    return undefined;
  }

  /** Takes the next envelope. Client commands that waited too long are refused on the way. */
  take(nowMs: number): Envelope | undefined {
    const control = this.#control.shift();
    if (control !== undefined) return control;
    for (;;) {
      const client = this.#client.shift();
      if (client === undefined) return undefined;
      this.#clientBytes -= client.bytes;
      if (nowMs - client.queuedAtMs <= this.#limits.mailboxAgeMs) return client;
      this.#counters.mailboxRefusals += 1;
      client.asker?.reject(waitedTooLongFailure());
    }
  }

  /** Puts a control envelope before all others. */
  putBack(envelope: Envelope): void {
    this.#control.unshift(envelope);
  }

  /** Refuses every client command that waits. */
  refuseClients(failure: RuntimeFailure): void {
    const refusedEnvelopes = this.#client.splice(0);
    this.#clientBytes = 0;
    for (const envelope of refusedEnvelopes) envelope.asker?.reject(failure);
  }

  /** Empties both lanes. */
  clear(failure: RuntimeFailure): void {
    this.refuseClients(failure);
    for (const envelope of this.#control.splice(0)) envelope.asker?.reject(failure);
  }

  /** Empties both lanes. Every asker gets its `replyIfAbsent`, because there is no such actor. */
  answerWithDefault(): void {
    this.#clientBytes = 0;
    for (const envelope of [...this.#control.splice(0), ...this.#client.splice(0)])
      envelope.asker?.resolve(envelope.asker.replyIfAbsent);
  }
}
