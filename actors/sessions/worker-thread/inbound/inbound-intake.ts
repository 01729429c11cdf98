import type { proto, WASocket } from '@whiskeysockets/baileys';
import type { InboundContent } from '../../../inbound-content.ts';
import type { InboundMode } from '../../../inbound-mode.ts';
import type { ChatTimers } from '../keys/chat-timers.ts';
import { readClientError } from '../session/session-end.ts';
import type { SessionEnvironment } from '../session/session-environment.ts';
import { userOf } from '../wire/chat-address.ts';
import { chatTimerIn } from '../wire/chat-timer.ts';
import { inboundContentOf, senderName } from '../wire/inbound-content.ts';
import { type InboundEnvelope, personOf, textOf } from '../wire/inbound-message.ts';
import { type InboundNotice, PendingInbound } from './pending-inbound.ts';

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
  hear(inbound: InboundMode): void {
    this.#mode = inbound;
  }

  /** Commits a message through the shop's actor, if it has any content. A rejection keeps the ratchet where it was. */
  async received(envelope: InboundEnvelope, message: proto.IMessage): Promise<void> {
    const content = await this.#contentOf(envelope, message);
    const text = textOf(message) ?? (content && '');
    const timer = chatTimerIn(message);
    if (text === undefined && timer === undefined) return;
    const from = await this.#senderOf(envelope);
    if (timer !== undefined) await this.#options.timers.keep(from, timer);
    if (text === undefined) return;
    try {
      this.#mustBeOpen();
      const { wireId, atMs } = envelope;
      await this.#pending.submit({ wireId, from, text, atMs, ...(content && { content }) });
    } catch (error) {
      // Before the client can answer.
      this.#options.failed(readClientError(error).message);
      throw error;
    }
  }

  async #contentOf(
    { lid, name }: InboundEnvelope,
    message: proto.IMessage,
  ): Promise<InboundContent | undefined> {
    if (this.#mode === 'none') return undefined;
    const said = inboundContentOf(message);
    if (said === undefined) return undefined;
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
      log({ wireId }, 'somebody wrote whose number the network does not tell');
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
