import type { proto, WASocket } from '@whiskeysockets/baileys';
import type { Clock } from '../../../../runtime/clock.ts';
import type { InboundContent } from '../../../inbound-content.ts';
import type { InboundMode } from '../../../inbound-mode.ts';
import type { SessionEventOf } from '../../session-events.ts';
import type { ChatTimers } from '../session/chat-timers.ts';
import { readClientError } from '../session/session-end.ts';
import type { SessionEnvironment } from '../session/session-environment.ts';
import { userOf } from '../wire/chat-address.ts';
import { type InboundEnvelope, personOf } from '../wire/inbound-message.ts';
import { readContent, senderName } from '../wire/read-content.ts';

/** An inbound message as its shop's actor gets it. */
export type InboundNotice = Omit<SessionEventOf<'session.inbound'>, 'type' | 'generation'>;

/** The parts and callbacks of a session that an intake uses. */
export interface InboundIntakeOptions {
  readonly environment: Pick<SessionEnvironment, 'clock' | 'numbers' | 'timing'>;
  readonly generation: number;
  /** The inbound messages that the tenant gets. */
  readonly inbound: InboundMode;
  /** The wire id that the order of a stanza was given with. */
  readonly orderedAs: (wireId: string) => Promise<string>;
  /** Finds the number behind the network's own id of a person. */
  readonly socket: () => WASocket | undefined;
  readonly timers: Pick<ChatTimers, 'keep'>;
  readonly report: (notice: InboundNotice) => void;
  /**
   * A message could not be committed. With the socket closed there is no receipt, and the network delivers it again.
   */
  readonly failed: (detail: string) => void;
  readonly log: (fields: Record<string, unknown>, message: string) => void;
}

/** The inbound messages of one session's shop, until its actor has committed them. */
export class InboundIntake {
  readonly #options: InboundIntakeOptions;
  readonly #pending: PendingInbound;
  #mode: InboundMode;
  #closed = false;

  constructor(options: InboundIntakeOptions) {
    this.#options = options;
    this.#mode = options.inbound;
    const { environment, generation, report } = options;
    const { clock, timing } = environment;
    this.#pending = new PendingInbound({ clock, timeoutMs: timing.confirmMs, generation, report });
  }

  /** Sets whether the content of messages is reported from now on. */
  setMode(inbound: InboundMode): void {
    this.#mode = inbound;
  }

  /** Commits a message through the shop's actor, if it has any content. A rejection keeps the ratchet where it was. */
  async commitMessage(envelope: InboundEnvelope, message: proto.IMessage): Promise<void> {
    const read = readContent(message);
    const content = await this.#contentOf(envelope, read.content);
    const text = read.text ?? (content && '');
    const { timer } = read;
    if (text === undefined && timer === undefined) return;
    const from = await this.#senderOf(envelope);
    if (timer !== undefined) await this.#options.timers.keep(from, timer);
    if (text === undefined) return;
    try {
      this.#mustBeOpen();
      const { wireId, atMs } = envelope;
      await this.#pending.submit({ wireId, from, text, atMs, ...(content && { content }) });
    } catch (error) {
      // The socket closes before the client can send a receipt.
      this.#options.failed(readClientError(error).message);
      throw error;
    }
  }

  async #contentOf(
    { lid, name }: InboundEnvelope,
    said: ReturnType<typeof readContent>['content'],
  ): Promise<InboundContent | undefined> {
    if (this.#mode === 'none' || said === undefined) return undefined;
    const quotes = said.quotes === null ? null : await this.#options.orderedAs(said.quotes);
    return { ...said, quotes, name: senderName(name), lid: lid ?? null };
  }

  confirm(token: string): void {
    this.#pending.confirm(token);
  }

  /** The session ended: all that wait are delivered again. */
  close(): void {
    this.#closed = true;
    this.#pending.abandon();
  }

  /**
   * Returns the sender's number, or the network's own id of them until it names one. The message may be an opt-out, so
   * it needs a sender.
   */
  async #senderOf({ wireId, sender, senderByNumber }: InboundEnvelope): Promise<string> {
    const { environment, log } = this.#options;
    const byNumber = senderByNumber ?? (await this.#numberOf(sender));
    if (byNumber === undefined) {
      log({ wireId }, 'a person wrote, and the network does not report their number');
      return personOf(sender);
    }
    const from = `+${userOf(byNumber)}`;
    environment.numbers.set(from, from, environment.timing.knownNumberMs);
    return from;
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error('the session ended');
  }

  async #numberOf(lid: string): Promise<string | undefined> {
    return (await this.#options.socket()?.signalRepository.lidMapping.getPNForLID(lid)) ?? undefined;
  }
}

/** The inbound messages that wait for the commit of their shop's actor. */
class PendingInbound {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #timeoutMs: number;
  readonly #generation: number;
  readonly #report: (notice: InboundNotice) => void;
  readonly #waiting = new Map<string, { confirm(): void; refuse(error: Error): void }>();
  #count = 0;

  constructor(options: {
    clock: Pick<Clock, 'after'>;
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
