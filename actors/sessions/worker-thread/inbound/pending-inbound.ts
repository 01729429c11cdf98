import type { Clock } from '../../../../runtime/clock.ts';
import type { InboundContent } from '../../../inbound-content.ts';

/** An inbound message as its shop's actor gets it. */
export interface InboundNotice {
  readonly token: string;
  readonly wireId: string;
  readonly from: string;
  readonly text: string;
  readonly atMs: number;
  /** The content for its tenant. Absent if there is none. */
  readonly content?: InboundContent;
}

/** The inbound messages that wait for the commit of their shop's actor. */
export class PendingInbound {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #generation: number;
  readonly #report: (notice: InboundNotice) => void;
  readonly #waiting = new Map<string, { confirm(): void; refuse(error: Error): void }>();
  #count = 0;

  constructor(options: {
    clock: Clock;
    /** How long a commit may take. */
    timeoutMs: number;
    /** Makes tokens unlike those of the shop's other sessions. */
    generation: number;
    report: (notice: InboundNotice) => void;
  }) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#generation = options.generation;
    this.#report = options.report;
  }

  /** Resolves when the message is committed; rejects when that took too long or the session ended. */
  submit(message: Omit<InboundNotice, 'token'>): Promise<void> {
    const token = this.#newToken();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        if (!this.#waiting.delete(token)) return;
        timeout.cancel();
        act();
      };
      const late = new Error('an inbound message was not committed in time');
      const timeout = this.#clock.after(this.#timeoutMs, () => settle(() => reject(late)));
      this.#waiting.set(token, {
        confirm: () => settle(resolve),
        refuse: (error) => settle(() => reject(error)),
      });
      this.#report({ ...message, token });
    });
  }

  confirm(token: string): void {
    this.#waiting.get(token)?.confirm();
  }

  /** Rejects all waiting messages: the network will deliver them again. */
  abandon(): void {
    for (const entry of [...this.#waiting.values()]) entry.refuse(new Error('the session ended'));
  }

  #newToken(): string {
    this.#count += 1;
    return `${this.#generation}.${this.#count}`;
  }
}
