import type { ArmedTimer, Clock } from '../../../../runtime/clock.ts';
import type { SendOutcome, SessionEnd, SessionEvent } from '../../session-events.ts';
import type { SessionAddress } from '../../session-host.ts';
import type { SessionTiming } from '../../session-timing.ts';
import type { Preparation, SessionNote, SessionReport, WorkerOpening } from '../../worker-protocol.ts';
import { describeDefect } from './defect.ts';
import type { Disconnect } from './session-end.ts';
import type { SessionEnvironment, ShopMemory } from './session-environment.ts';
import { SessionTimers } from './session-timers.ts';

/** An event without the number of its session. */
export type UnnumberedEvent = WithoutGeneration<SessionEvent>;

type WithoutGeneration<T> = T extends { generation: number } ? Omit<T, 'generation'> : never;

/** The steps of sealing, and the facts about the recipient, that a shop's actor gets before a message leaves. */
type PreparedFacts = Pick<Extract<SessionReport, { kind: 'prepared' }>, 'lid' | 'hasChat' | 'changes'>;

/** The network's own codes for the end of a session. */
export type SessionEndCodes = Partial<Omit<Disconnect, 'message' | 'end'>>;

/** Ends a session. `detail` is the reason, as in its `closed` event. Only the first call counts. */
type EndSession = (end: SessionEnd, detail: string, codes?: SessionEndCodes) => void;

/** The session's shop, and what it is made from. */
export interface SessionFacts {
  readonly environment: SessionEnvironment;
  readonly memory: ShopMemory;
  readonly shop: SessionAddress;
  readonly opening: WorkerOpening;
}

/** All parts of one session share its context: its facts, its timers, its end, and its reports to the main thread. */
export class SessionContext implements SessionFacts {
  readonly environment: SessionEnvironment;
  readonly memory: ShopMemory;
  readonly shop: SessionAddress;
  readonly opening: WorkerOpening;
  readonly clock: Clock;
  readonly timing: SessionTiming;
  readonly end: EndSession;
  readonly timers: SessionTimers;

  constructor({ environment, memory, shop, opening }: SessionFacts, end: EndSession) {
    this.environment = environment;
    this.memory = memory;
    this.shop = shop;
    this.opening = opening;
    this.clock = environment.clock;
    this.timing = environment.timing;
    this.end = end;
    this.timers = new SessionTimers(this.clock);
  }

  get hasEnded(): boolean {
    return this.timers.hasEnded;
  }

  /** Acts after a while, unless the session ends before. */
  later(delayMs: number, act: () => void): ArmedTimer {
    return this.timers.after(delayMs, act);
  }

  /** Reports an event to the shop's actor. */
  emit(event: UnnumberedEvent): void {
    const numbered = { ...event, generation: this.opening.generation } as never;
    this.environment.post({ kind: 'event', shopId: this.shop.shopId, event: numbered });
  }

  /** Reports an outcome of an order. Only a rate limit may follow another outcome. */
  report({ attempt, order: { messageId } }: Preparation, outcome: SendOutcome): void {
    this.environment.post({ kind: 'outcome', ...this.#ids(), attempt, messageId, outcome });
  }

  /**
   * Reports that only the frame of a message is missing, which `transmit` sends. The changes must be stored
   * before. Call it again, without changes, before a message is sent again.
   */
  prepared({ attempt, order: { messageId } }: Preparation, facts: PreparedFacts): void {
    this.environment.post({ kind: 'prepared', ...this.#ids(), attempt, messageId, ...facts });
  }

  /** Reports something that operators should see. */
  note(note: SessionNote): void {
    this.environment.post({ kind: 'note', ...this.#ids(), note });
  }

  log(fields: Record<string, unknown>, message: string, level: 'info' | 'warn' | 'error' = 'warn'): void {
    const { shopId } = this.shop;
    this.environment.post({ kind: 'log', level, fields: { shopId, ...fields }, message });
  }

  /** Returns a function that logs an error with this message. */
  logFailure(message: string): (error: unknown) => void {
    return (error) => this.log({ ...describeDefect(error) }, message);
  }

  #ids(): { readonly shopId: string; readonly generation: number } {
    return { shopId: this.shop.shopId, generation: this.opening.generation };
  }
}
