import type { proto, WASocket } from '@whiskeysockets/baileys';
import { errorText } from '../../../../runtime/described-error.ts';
import type { InboundContent } from '../../../inbound-content.ts';
import type { InboundMode } from '../../../inbound-mode.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SessionEventOf } from '../../session-events.ts';
import type { ChatTimers } from '../shared/chat-timers.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { userOf } from '../wire/chat-address.ts';
import { type InboundEnvelope, personOf } from '../wire/inbound-message.ts';
import { readContent, senderName } from '../wire/read-content.ts';

/** An inbound message as its shop's actor gets it, without its token. */
type InboundNotice = Omit<SessionEventOf<'session.inbound'>, 'type' | 'generation' | 'token'>;

interface InboundIntakeOptions {
  /** The wire id that the order of a stanza was given with. */
  readonly orderedAs: (wireId: string) => Promise<string>;
  /** Finds the number behind the network's own id of a person. */
  readonly socket: () => WASocket | undefined;
  readonly chatTimers: Pick<ChatTimers, 'keep'>;
}

/** The inbound messages of one session's shop, until its actor has committed them. */
export class InboundIntake {
  readonly #context: SessionContext;
  readonly #options: InboundIntakeOptions;
  /** Ends the wait for the commit of a message, by its token. */
  readonly #waiting = new Map<string, (failure?: Error) => void>();
  #tokens = 0;
  #mode: InboundMode;
  #isClosed = false;

  constructor(context: SessionContext, options: InboundIntakeOptions) {
    this.#context = context;
    this.#options = options;
    this.#mode = context.opening.inbound ?? 'none';
  }

  /** Sets whether the content of messages is reported from now on. */
  setInboundMode(inbound: InboundMode): void {
    this.#mode = inbound;
  }

  /** Commits a message through the shop's actor, if it has any content. A rejection keeps the ratchet where it was. */
  async commitMessage(envelope: InboundEnvelope, message: proto.IMessage): Promise<void> {
    const reading = readContent(message);
    const content = await this.#contentOf(envelope, reading.content);
    const text = reading.text ?? (content && '');
    const { timer } = reading;
    if (text === undefined && timer === undefined) return;
    const sender = await this.#senderOf(envelope);
    if (timer !== undefined) await this.#options.chatTimers.keep(sender, timer);
    if (text === undefined) return;
    try {
      const { wireId, atMs, lid } = envelope;
      await this.#commit({
        wireId,
        from: sender,
        text,
        atMs,
        ...(lid === undefined ? {} : { lid }),
        ...(content === undefined ? {} : { content }),
      });
    } catch (error) {
      // The socket closes before the client can send a receipt. So the network delivers the message again.
      this.#context.end('transient', errorText(error));
      throw error;
    }
  }

  async #contentOf(
    { name }: InboundEnvelope,
    content: ReturnType<typeof readContent>['content'],
  ): Promise<InboundContent | undefined> {
    if (this.#mode === 'none' || content === undefined) return undefined;
    const quotes = content.quotes === null ? null : await this.#options.orderedAs(content.quotes);
    return { ...content, quotes, name: senderName(name) };
  }

  /** Resolves when the message is committed. Rejects if that takes too long, or the session ended. */
  #commit(message: InboundNotice): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the session ended'));
    const { clock, timing, opening } = this.#context;
    this.#tokens += 1;
    // The generation makes it differ from the tokens of the shop's other sessions.
    const token = `${opening.generation}.${this.#tokens}`;
    return new Promise((resolve, reject) => {
      const timeout = clock.after(timing.confirmMs, () =>
        end(new NoAnswer('an inbound message was not committed in time')),
      );
      const end = (error?: Error): void => {
        this.#waiting.delete(token);
        timeout.cancel();
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#waiting.set(token, end);
      this.#context.emit({ type: 'session.inbound', ...message, token });
    });
  }

  confirm(token: string): void {
    this.#waiting.get(token)?.();
  }

  /** The session ended: all that wait are delivered again. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#waiting.values()]) end(new Error('the session ended'));
  }

  /**
   * Returns the sender's number, or the network's own id of them until it names one. The message may be an opt-out, so
   * it needs a sender.
   */
  async #senderOf({ wireId, sender, senderByNumber }: InboundEnvelope): Promise<string> {
    const { environment, timing } = this.#context;
    const byNumber =
      senderByNumber ?? (await this.#options.socket()?.signalRepository.lidMapping.getPNForLID(sender));
    if (byNumber == null) {
      this.#context.log({ wireId }, 'a person wrote, and the network does not report their number');
      return personOf(sender);
    }
    const fromNumber = `+${userOf(byNumber)}`;
    environment.numbers.set(fromNumber, fromNumber, timing.knownNumberMs);
    return fromNumber;
  }
}
