import type { BinaryNode } from '@whiskeysockets/baileys';
import { node } from './stanzas.ts';

/** The number of waiting stanzas that are sent before the client asks for more. */
const BEFORE_ASKED = 5;

/** Returns a stanza that waits, or undefined if it was removed meanwhile. */
export type FindStanza = () => BinaryNode | undefined;

/**
 * Sends one connection the stanzas that waited while its companion was offline. It announces them, sends a few, then as
 * many as the client asks for, then the end. New stanzas wait until then.
 */
export class Backlog {
  readonly #send: (stanza: BinaryNode) => void;
  readonly #isBlocked: () => boolean;
  readonly #waiting: FindStanza[];
  readonly #count: number;
  #mayGo = BEFORE_ASKED;
  #sent = 0;
  #hasEnded = false;

  constructor(options: {
    send: (stanza: BinaryNode) => void;
    /** Returns true if an unanswered stanza withholds all others. */
    isBlocked: () => boolean;
    waiting: readonly FindStanza[];
  }) {
    this.#send = options.send;
    this.#isBlocked = options.isBlocked;
    this.#waiting = [...options.waiting];
    this.#count = this.#waiting.length;
  }

  /** Announces the waiting stanzas and sends the first of them. */
  start(): void {
    if (this.#count > 0) this.#send(announcement(this.#waiting));
    this.goOn();
  }

  /** Lets `count` more stanzas go, as the client asked. */
  onAsked(count: number): void {
    this.#mayGo = count;
    this.goOn();
  }

  /** Adds a new stanza. It is sent at once if none waits before it. */
  add(find: FindStanza): void {
    this.#waiting.push(find);
    this.goOn();
  }

  /** Sends every stanza that may be sent now. */
  goOn(): void {
    while (this.#waiting.length > 0 && (this.#hasEnded || this.#mayGo > 0) && !this.#isHeld()) {
      const stanza = this.#waiting.shift()?.();
      if (stanza !== undefined) this.#sendNext(stanza);
    }
    if (this.#hasEnded || this.#waiting.length > 0 || this.#isHeld()) return;
    this.#hasEnded = true;
    this.#send(node('ib', {}, [node('offline', { count: String(this.#sent) })]));
  }

  #sendNext(stanza: BinaryNode): void {
    if (this.#hasEnded) {
      this.#send(stanza);
      return;
    }
    this.#send({ ...stanza, attrs: { ...stanza.attrs, offline: String(this.#sent) } });
    this.#sent += 1;
    this.#mayGo -= 1;
  }

  /** True if the rest is withheld. The stanza that withholds it is itself sent first. */
  #isHeld(): boolean {
    return (this.#hasEnded || this.#sent > 0) && this.#isBlocked();
  }
}

/** Returns the number of waiting stanzas, in all and by kind. */
function announcement(waitingStanzas: readonly FindStanza[]): BinaryNode {
  const kinds = new Map<string, number>();
  for (const find of waitingStanzas) {
    const tag = find()?.tag;
    if (tag !== undefined) kinds.set(tag, (kinds.get(tag) ?? 0) + 1);
  }
  const counts = [...kinds].map(([tag, count]) => [tag, String(count)]);
  return node('ib', {}, [
    node('offline_preview', { ...Object.fromEntries(counts), count: String(waitingStanzas.length) }),
  ]);
}
