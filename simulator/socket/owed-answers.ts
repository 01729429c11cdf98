import type { BinaryNode } from '@whiskeysockets/baileys';
import type { SimulatorClock, SimulatorTimer } from '../clock.ts';

/** How long a client may leave a stanza unacknowledged. The real network ends the stream after 50 minutes. */
const LONGEST_WAIT_MS = 50 * 60_000;

/** Stanzas that need no acknowledgement. */
const WITHOUT_ANSWER = new Set([
  'ack',
  'chatstate',
  'failure',
  'ib',
  'iq',
  'presence',
  'stream:error',
  'success',
  'xmlstreamend',
]);

/** A stanza that its client has not acknowledged. */
interface OwedStanza {
  readonly stanza: BinaryNode;
  readonly sentAtMs: number;
}

/**
 * The stanzas of one connection that its client has not acknowledged. A receipt does not acknowledge a message. It
 * reports that the recipient has it. Only the `ack` of its class allows the server to drop it.
 */
export class OwedAnswers {
  readonly #clock: SimulatorClock;
  readonly #overdue: (stanza: BinaryNode) => void;
  /** The oldest first. */
  readonly #owed = new Map<string, OwedStanza>();
  #timer: SimulatorTimer | undefined;

  constructor(clock: SimulatorClock, onOverdue: (stanza: BinaryNode) => void) {
    this.#clock = clock;
    this.#overdue = onOverdue;
  }

  onSent(stanza: BinaryNode): void {
    if (WITHOUT_ANSWER.has(stanza.tag) || stanza.attrs.id === undefined) return;
    const name = nameOf(stanza.tag, stanza.attrs, stanza.attrs.from);
    this.#owed.delete(name);
    this.#owed.set(name, { stanza, sentAtMs: this.#clock.wallMs() });
    this.#watch();
  }

  acknowledged({ attrs }: BinaryNode): void {
    this.#owed.delete(nameOf(attrs.class ?? '', attrs, attrs.to));
  }

  /** Returns the unacknowledged stanzas, oldest first. */
  list(): BinaryNode[] {
    return [...this.#owed.values()].map(({ stanza }) => stanza);
  }

  close(): void {
    this.#timer?.cancel();
    this.#owed.clear();
  }

  #watch(): void {
    const [oldestAnswer] = this.#owed.values();
    if (this.#timer !== undefined || oldestAnswer === undefined) return;
    const waitMs = Math.max(0, oldestAnswer.sentAtMs + LONGEST_WAIT_MS - this.#clock.wallMs());
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      const [first] = this.#owed.values();
      if (first === undefined) return;
      if (this.#clock.wallMs() - first.sentAtMs >= LONGEST_WAIT_MS) this.#overdue(first.stanza);
      else this.#watch();
    });
  }
}

/** Returns the attributes that a stanza and its acknowledgement have in common. */
function nameOf(tag: string, { id, participant, recipient }: BinaryNode['attrs'], chat?: string): string {
  return [tag, id, chat, participant, recipient].join(' ');
}
