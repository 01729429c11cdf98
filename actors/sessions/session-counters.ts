import { INBOUND_KINDS, type InboundKind } from '../inbound-content.ts';
import type { SendOutcome, SessionEnd } from './session-events.ts';
import type { OutcomeCount, SessionFigures } from './session-host.ts';

/** The classes of stanzas by which missing acknowledgements are counted. `other` has those of all other classes. */
const UNANSWERED = ['message', 'status', 'receipt', 'notification', 'call', 'appdata', 'other'] as const;

/** Outcomes with a count each. The network makes the codes of refusals, so any more of them are counted as `other`. */
const MOST_OUTCOMES = 100;
/** The form of a code that has a count of its own. Other codes are counted as `other`. */
const COUNTED_CODE = /^\w{1,16}$/;

/**
 * Counts what happens to the sessions of one node. The counts by class and by kind begin at 0, because Prometheus sees
 * no increase of a series that is new.
 */
export class SessionCounters {
  readonly #ends = new Map<SessionEnd | 'worker_lost', number>();
  readonly #outcomes = new Map<string, OutcomeCount>();
  readonly #unanswered = new Map<string, number>(UNANSWERED.map((stanzaClass) => [stanzaClass, 0]));
  readonly #offline = { announced: 0, drained: 0 };
  #received = 0;
  readonly #published = new Map<InboundKind, number>(INBOUND_KINDS.map((kind) => [kind, 0]));

  countEnd(end: SessionEnd | 'worker_lost'): void {
    countOne(this.#ends, end);
  }

  countOutcome(outcome: SendOutcome): void {
    const code = outcome.kind === 'refused' ? this.#countedCode(outcome.code) : '';
    const name = `${outcome.kind} ${code}`;
    const { count = 0 } = this.#outcomes.get(name) ?? {};
    this.#outcomes.set(name, { outcome: outcome.kind, code, count: count + 1 });
  }

  #countedCode(code: string): string {
    const mayCount = this.#outcomes.size < MOST_OUTCOMES && COUNTED_CODE.test(code);
    return mayCount || this.#outcomes.has(`refused ${code}`) ? code : 'other';
  }

  /** `kind`: of a message whose content is published to its tenant. */
  countReceived(kind?: InboundKind): void {
    this.#received += 1;
    if (kind !== undefined) countOne(this.#published, kind);
  }

  /** Counts stanzas that waited while a session was offline. */
  countOffline(state: 'announced' | 'drained', count: number): void {
    this.#offline[state] += count;
  }

  /** The network ended a session, because a stanza of that class was not acknowledged. */
  countUnanswered(stanzaClass: string): void {
    countOne(this.#unanswered, this.#unanswered.has(stanzaClass) ? stanzaClass : 'other');
  }

  /** Returns all counts so far. */
  counts(): Omit<SessionFigures, 'workersLost' | 'workerHeapBytes'> {
    return {
      ends: this.#ends,
      outcomes: [...this.#outcomes.values()],
      received: this.#received,
      published: this.#published,
      unanswered: this.#unanswered,
      offline: this.#offline,
    };
  }
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
