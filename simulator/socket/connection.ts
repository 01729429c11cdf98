import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import type { RawData, WebSocket } from 'ws';
import type { SimulatorClock } from '../clock.ts';
import type { Journal } from '../journal.ts';
import type { Companion } from '../linking/companions.ts';
import type { Backlog } from './backlog.ts';
import { FrameReader, frame } from './frames.ts';
import { type ClientFinish, NoiseResponder } from './noise-responder.ts';
import { OwedAnswers } from './owed-answers.ts';
import type { ServerIdentity } from './server-identity.ts';
import { node, streamError } from './stanzas.ts';

/** How long a client may take to close after a last stanza, in milliseconds. Then it is cut off. */
const FAREWELL_MS = 2_000;

/** The handlers of a connection's events. */
export interface ConnectionHandlers {
  /** Called after the handshake. The payload shows whether the client registers or logs in. */
  onClient(connection: Connection, finish: ClientFinish): Promise<void>;
  /** Called for each stanza. The next one waits until the promise settles. */
  onStanza(connection: Connection, stanza: BinaryNode): Promise<void>;
  onClosed(connection: Connection): void;
  /** Called when a handler or the wire failed. The connection is cut. */
  onFailure(connection: Connection, error: unknown): void;
}

interface ConnectionOptions {
  readonly socket: WebSocket;
  readonly journal: Journal;
  readonly clock: SimulatorClock;
  readonly identity: ServerIdentity;
  readonly handlers: ConnectionHandlers;
}

/**
 * One chat socket: awaiting hello → awaiting finish → open → closed. Stanzas are handled one after the other and leave
 * in the order they were sent. Each leaves only after every earlier write to the journal is on disk.
 */
export class Connection {
  readonly openedAtMs: number;
  /** Set at login. */
  companion: Companion | undefined;
  /** The name that the client showed with its presence. */
  shownName: string | undefined;
  /** `deaf`: only pings are answered. `silent`: nothing is answered. The socket stays open in both cases. */
  hearing: 'full' | 'deaf' | 'silent' = 'full';
  /**
   * Stanzas that wait for the client, and later ones. Undefined until the client asked for its messages (`passive` →
   * `active`).
   */
  backlog: Backlog | undefined;
  readonly owed: OwedAnswers;
  readonly #options: ConnectionOptions;
  readonly #noise: NoiseResponder;
  readonly #frames = new FrameReader();
  readonly #answers = new Map<string, (answer: BinaryNode | undefined) => void>();
  #stage: 'hello' | 'finish' | 'open' = 'hello';
  #inbound: Promise<void> = Promise.resolve();
  /** Frames that wait, unencrypted. They are encrypted in the order in which they leave. */
  readonly #outbound: (() => Buffer)[] = [];
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#noise = new NoiseResponder(options.identity);
    this.owed = new OwedAnswers(options.clock, (stanza) => this.#endForWantOf(stanza));
    this.openedAtMs = options.clock.wallMs();
    this.#options.socket.on('message', (data: RawData) => this.#receive(data as Buffer));
    this.#options.socket.on('error', () => this.#options.socket.terminate());
    this.#options.socket.once('close', () => this.#onClose());
  }

  /** Sends a stanza, unless the socket has ended or has the fault `silent`. */
  send(stanza: BinaryNode): void {
    if (this.#isClosed || this.hearing === 'silent') return;
    this.owed.onSent(stanza);
    this.#enqueue(() => frame(this.#noise.encrypt(encodeBinaryNode(stanza))));
  }

  /** Sends bytes instead of an encoded stanza, and expects no answer. */
  sendBytes(bytes: Uint8Array): void {
    if (this.#isClosed || this.hearing === 'silent') return;
    this.#enqueue(() => frame(this.#noise.encrypt(bytes)));
  }

  /** Sends a stanza. Resolves as `answerTo` does. */
  ask(stanza: BinaryNode, timeoutMs: number): Promise<BinaryNode | undefined> {
    const answer = this.answerTo(stanza.attrs.id ?? '', timeoutMs);
    this.send(stanza);
    return answer;
  }

  /** Resolves with the client's answer or ack, or with undefined after `timeoutMs`. */
  answerTo(id: string, timeoutMs: number): Promise<BinaryNode | undefined> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(timeoutMs, () => settle(undefined));
      const settle = (answer: BinaryNode | undefined): void => {
        timer.cancel();
        this.#answers.delete(id);
        resolve(answer);
      };
      this.#answers.set(id, settle);
    });
  }

  /** Sends a last stanza. A client that does not close then is cut off. */
  endWith(stanza: BinaryNode): void {
    this.send(stanza);
    this.hearing = 'silent';
    this.#options.clock.after(FAREWELL_MS, () => this.drop());
  }

  /** Cuts the connection without a last stanza. */
  drop(): void {
    this.#options.socket.terminate();
  }

  #enqueue(encode: () => Buffer): void {
    this.#outbound.push(encode);
    if (this.#outbound.length === 1) void this.#flush();
  }

  /** Sends the waiting frames. Each leaves only after every earlier write to the journal is on disk. */
  async #flush(): Promise<void> {
    while (this.#outbound.length > 0) {
      const count = this.#outbound.length;
      try {
        await this.#options.journal.settled();
        for (const encode of this.#outbound.splice(0, count))
          if (!this.#isClosed) this.#options.socket.send(encode());
      } catch (error) {
        // A client must not see anything that is not written.
        this.#outbound.length = 0;
        this.#fail(error);
      }
    }
  }

  #receive(data: Buffer): void {
    let payloads: Buffer[];
    try {
      payloads = this.#frames.push(data);
    } catch (error) {
      this.#fail(error);
      return;
    }
    for (const payload of payloads) {
      this.#inbound = this.#inbound
        .then(() => this.#onPayload(payload))
        .catch((error: unknown) => this.#fail(error));
    }
  }

  async #onPayload(payload: Buffer): Promise<void> {
    if (this.#isClosed) return;
    if (this.#stage === 'hello') {
      const { message, finish } = this.#noise.serverHello(payload);
      this.#stage = finish ? 'open' : 'finish';
      if (this.hearing !== 'silent') this.#enqueue(() => frame(message));
      if (finish) await this.#options.handlers.onClient(this, finish);
      return;
    }
    if (this.#stage === 'finish') {
      const finish = this.#noise.clientFinish(payload);
      this.#stage = 'open';
      await this.#options.handlers.onClient(this, finish);
      return;
    }
    const stanza = await decodeBinaryNode(this.#noise.decrypt(payload));
    if (this.hearing === 'silent') return;
    if (stanza.tag === 'ack' && this.hearing === 'full') this.owed.acknowledged(stanza);
    const answers = stanza.tag === 'iq' || stanza.tag === 'ack';
    const answer = answers ? this.#answers.get(stanza.attrs.id ?? '') : undefined;
    if (answer) answer(stanza);
    else await this.#options.handlers.onStanza(this, stanza);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#options.handlers.onFailure(this, error);
    this.drop();
  }

  /** Ends the stream for a stanza that was never acknowledged, as the network does. */
  #endForWantOf({ tag, attrs }: BinaryNode): void {
    if (this.hearing !== 'full') return;
    const { id, type } = attrs;
    this.endWith(streamError(undefined, node('ack', { class: tag, id, type })));
  }

  #onClose(): void {
    this.#isClosed = true;
    this.owed.close();
    for (const settle of [...this.#answers.values()]) settle(undefined);
    this.#options.handlers.onClosed(this);
  }
}
