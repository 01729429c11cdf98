import type { BinaryNode } from '@whiskeysockets/baileys';
import { node } from './stanzas.ts';

/** So many of what waited come before the client asked for any. */
const BEFORE_ASKED = 5;

/** One stanza that waited. Undefined where it ended meanwhile. */
export type FindStanza = () => BinaryNode | undefined;

/**
 * Sends what waited for a companion while it was away, as one connection gets it: announced, then a few stanzas, then
 * as many as the client asks for, then the end. What comes in between waits behind it.
 */
export class Backlog {
  readonly #send: (stanza: BinaryNode) => void;
  readonly #isBlocked: () => boolean;
  readonly #waiting: FindStanza[];
  readonly #count: number;
  #mayGo = BEFORE_ASKED;
  #sent = 0;
  #ended = false;

  constructor(options: {
    send: (stanza: BinaryNode) => void;
    /** Whether a stanza that was sent withholds all others. */
    isBlocked: () => boolean;
    waiting: readonly FindStanza[];
  }) {
    this.#send = options.send;
    this.#isBlocked = options.isBlocked;
    this.#waiting = [...options.waiting];
    this.#count = this.#waiting.length;
  }

  /** Announces what waits, and sends the first of it. */
  start(): void {
    if (this.#count > 0) this.#send(announcement(this.#waiting));
    this.goOn();
  }

  /** The client asked for so many more. */
  asked(count: number): void {
    this.#mayGo = count;
    this.goOn();
  }

  /** A stanza that came meanwhile: sent at once where nothing waits before it. */
  add(find: FindStanza): void {
    this.#waiting.push(find);
    this.goOn();
  }

  /** Sends what may be sent. */
  goOn(): void {
    while (this.#waiting.length > 0 && (this.#ended || this.#mayGo > 0) && !this.#isHeld()) {
      const stanza = this.#waiting.shift()?.();
      if (stanza !== undefined) this.#sendNext(stanza);
    }
    if (this.#ended || this.#waiting.length > 0 || this.#isHeld()) return;
    this.#ended = true;
    this.#send(node('ib', {}, [node('offline', { count: String(this.#sent) })]));
  }

  #sendNext(stanza: BinaryNode): void {
    if (this.#ended) {
      this.#send(stanza);
      return;
    }
    this.#send({ ...stanza, attrs: { ...stanza.attrs, offline: String(this.#sent) } });
    this.#sent += 1;
    this.#mayGo -= 1;
  }

  /** True when the rest is withheld. The stanza that withholds it is sent itself, before it. */
  #isHeld(): boolean {
    return (this.#ended || this.#sent > 0) && this.#isBlocked();
  }
}

/** How many wait, in all and of each kind. */
function announcement(waiting: readonly FindStanza[]): BinaryNode {
  const kinds = new Map<string, number>();
  for (const find of waiting) {
    const tag = find()?.tag;
    if (tag !== undefined) kinds.set(tag, (kinds.get(tag) ?? 0) + 1);
  }
  const counts = [...kinds].map(([tag, count]) => [tag, String(count)]);
  return node('ib', {}, [
    node('offline_preview', { ...Object.fromEntries(counts), count: String(waiting.length) }),
  ]);
}
