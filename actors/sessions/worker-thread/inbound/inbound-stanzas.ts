import {
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  isJidNewsletter,
  isJidStatusBroadcast,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Ratchets } from '../keys/ratchets.ts';
import { describeDefect } from '../shared/defect.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { isSocketFailure } from '../shared/session-end.ts';
import { OfflineBacklog } from './offline-backlog.ts';

/** Stanzas that the client answers, or that need no answer. All others are acknowledged here, new classes too. */
const ANSWERED = new Set([
  'ack',
  'call',
  'chatstate',
  'error',
  'failure',
  'ib',
  'iq',
  'message',
  'notification',
  'presence',
  'receipt',
  'stream:error',
  'success',
  'xmlstreamend',
]);

/**
 * Runs before the client's own listeners, so that each stanza gets an answer. A stanza without an answer for 50 minutes
 * ends the stream. A status that is answered with an error makes the network withhold all later stanzas
 * (docs/chat-client.md, Answers to stanzas).
 *
 * Statuses, newsletters and stanzas of classes that the client does not know are acknowledged and go no further.
 * Messages go to the client one after the other. A message that was read is acknowledged after its receipt.
 */
export class InboundStanzas {
  readonly #context: SessionContext;
  readonly #socket: WASocket;
  readonly #ratchets: Ratchets;
  readonly #backlog: OfflineBacklog;
  /** Resolves when all waiting stanzas were received and processed. */
  readonly caughtUp: Promise<void>;
  /** Resolves when all messages so far are done. Each begins once the one before it is done. */
  #tail: Promise<void> = Promise.resolve();

  constructor(context: SessionContext, socket: WASocket, ratchets: Ratchets) {
    this.#context = context;
    this.#socket = socket;
    this.#ratchets = ratchets;
    this.#backlog = new OfflineBacklog(context, {
      ask: (count) => {
        const batch = { tag: 'offline_batch', attrs: { count: String(count) } };
        this.#send({ tag: 'ib', attrs: {}, content: [batch] });
      },
      waitUntilIdle: () => this.#tail,
    });
    this.#listen();
    this.caughtUp = new Promise((resolve) => {
      socket.ws.on('CB:ib,,offline', () => {
        this.#backlog.finish();
        void this.#tail.then(resolve);
      });
    });
  }

  #listen(): void {
    const { ws } = this.#socket;
    ws.prependListener('frame', (frame: BinaryNode | Uint8Array) => {
      if (!(frame instanceof Uint8Array)) this.#onStanza(frame);
    });
    const passOn = ws.listeners('CB:message') as ((message: BinaryNode) => unknown)[];
    ws.removeAllListeners('CB:message');
    ws.on('CB:message', (message: BinaryNode) => {
      if (isDropped(message)) {
        this.#acknowledge(message);
      } else {
        // A message that fails stays unanswered, so the network delivers it again at the next login.
        this.#tail = this.#tail
          .then(() => this.#pass(message, passOn))
          .catch((error: unknown) => this.#onFailure(message, error));
      }
    });
    // The client itself would request a hundred stanzas, once.
    ws.removeAllListeners('CB:ib,,offline_preview');
    ws.on('CB:ib,,offline_preview', (ib: BinaryNode) => {
      this.#backlog.start(Number(getBinaryNodeChild(ib, 'offline_preview')?.attrs.count ?? 0));
    });
    ws.prependListener('CB:stream:error', (error: BinaryNode) => {
      const ack = getBinaryNodeChild(error, 'ack');
      if (ack === undefined) return;
      const { class: stanzaClass = '', type: stanzaType } = ack.attrs;
      this.#context.note({ kind: 'unanswered', stanzaClass, stanzaType });
    });
  }

  /** Handles each stanza before all other listeners. */
  #onStanza(stanza: BinaryNode): void {
    const { tag, attrs } = stanza;
    if (attrs.offline !== undefined) {
      this.#backlog.countStanza();
      // The client would process it apart from the others, and not report the end.
      if (tag === 'message') delete attrs.offline;
    }
    if (!ANSWERED.has(tag) && attrs.id !== undefined && attrs.from !== undefined) this.#acknowledge(stanza);
  }

  async #pass(message: BinaryNode, passOn: readonly ((message: BinaryNode) => unknown)[]): Promise<void> {
    if (!this.#socket.ws.isOpen) return;
    for (const listener of passOn) await listener(message);
    if (!this.#isAnswered(message)) this.#acknowledge(message);
  }

  /** Logs a message that fails, once for each delivery. A socket that closes is no fault of the message's. */
  #onFailure({ tag, attrs: { id, type } }: BinaryNode, error: unknown): void {
    if (isSocketFailure(error)) return;
    this.#context.log(
      { wireId: id, stanzaClass: tag, stanzaType: type, ...describeDefect(error) },
      'a message could not be handled, and comes again',
    );
  }

  /**
   * True if the client acknowledged the message itself, as it does if it could not read it. For messages of the shop's
   * own phone it sends a receipt anyway.
   */
  #isAnswered(message: BinaryNode): boolean {
    const outcome = this.#ratchets.outcomeOf(message);
    if (outcome === 'failed') return message.attrs.category !== 'peer';
    if (outcome === 'read') return false;
    const children = getAllBinaryNodeChildren(message);
    const sealedParts = children.filter(({ tag }) => tag === 'enc' || tag === 'plaintext');
    if (sealedParts.length === 0)
      return !children.some(({ tag, attrs }) => tag === 'unavailable' && attrs.type === 'view_once');
    // If it did not try to open a ciphertext, it took the stanza for malformed and answered with an error.
    return sealedParts.some(({ tag }) => tag === 'enc') && message.attrs.category !== 'peer';
  }

  /**
   * Sends an acknowledgement without an error. It has all attributes by which the network finds the stanza
   * (oxidezap/whatsapp-rust, pull request 633).
   */
  #acknowledge({ tag, attrs }: BinaryNode): void {
    const { id = '', from = '', participant, recipient, type } = attrs;
    const ownId = tag === 'message' || tag === 'status' ? this.#socket.user?.id : undefined;
    this.#send({
      tag: 'ack',
      attrs: {
        id,
        to: from,
        class: tag,
        ...(participant === undefined ? {} : { participant }),
        ...(recipient === undefined ? {} : { recipient }),
        ...(type === undefined ? {} : { type }),
        ...(ownId === undefined ? {} : { from: ownId }),
      },
    });
  }

  /** A lost connection needs no acknowledgement: every stanza is delivered again at the next login. */
  #send(stanza: BinaryNode): void {
    this.#socket.sendNode(stanza).catch(() => undefined);
  }
}

/** True for stanzas that a shop does not read: statuses that contacts show to everybody, and posts of channels. */
function isDropped({ attrs: { from } }: BinaryNode): boolean {
  return isJidStatusBroadcast(from ?? '') || isJidNewsletter(from) === true;
}
