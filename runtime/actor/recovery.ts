import type { Envelope } from './mailbox.ts';
import type { Supervision } from './supervision.ts';
import type { TurnCycle } from './turn-cycle.ts';

/**
 * The turn that a behaviour commits instead of one that threw (`Behaviour.recover`). Once it has taken effect, the
 * actor is loaded again. If Redis does not apply it, the command waits in the mailbox and throws once more.
 */
export class Recovery {
  readonly #cycle: TurnCycle;
  readonly #supervision: Supervision;
  #isUnderWay = false;
  /** A command that threw, and waits in the mailbox because the turn in its place was not committed. */
  #noted: Envelope | undefined;

  constructor(cycle: TurnCycle, supervision: Supervision) {
    this.#cycle = cycle;
    this.#supervision = supervision;
  }

  /** True from the decision of the turn until it has taken effect or failed. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** Notes the error of a turn, unless the same command threw before the recovery that was not committed. */
  note(envelope: Envelope, error: unknown): void {
    // The next attempt throws like the one before. An error of the turn in its place is another one.
    if (envelope !== this.#noted || this.#isUnderWay) this.#supervision.note(error);
  }

  /** Begins the turn in the place of the one that threw. Returns false if the behaviour has none, or throws. */
  begin(envelope: Envelope): boolean {
    if (this.#isUnderWay || (envelope.kind !== 'command' && envelope.kind !== 'timer')) return false;
    this.#isUnderWay = true;
    try {
      if (this.#cycle.recover(envelope)) return true;
    } catch (error) {
      this.#supervision.note(error);
    }
    this.#isUnderWay = false;
    return false;
  }

  /** Call it when Redis did not apply a turn. */
  onUncommitted(envelope: Envelope): void {
    if (this.#isUnderWay) this.#noted = envelope;
    this.#isUnderWay = false;
  }

  /** Call it when the state is dropped. */
  end(): void {
    this.#isUnderWay = false;
  }
}
