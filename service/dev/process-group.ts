import {
  type GuardedProcess,
  type GuardedProcessOptions,
  type ProcessExit,
  spawnGuarded,
} from './guarded-process.ts';

/** A member that ended without being stopped. */
export interface ProcessLoss {
  readonly name: string;
  readonly end: ProcessExit;
}

/** Processes that end together. A new group is empty. */
export class ProcessGroup {
  /** Settles with the first member that ended by itself; never when `stop` came first. */
  readonly broken: Promise<ProcessLoss>;
  readonly #members: GuardedProcess[] = [];
  #isEnding = false;
  #reportLoss: (loss: ProcessLoss) => void = () => undefined;

  constructor() {
    this.broken = new Promise((resolve) => {
      this.#reportLoss = resolve;
    });
  }

  /** Starts a member. Throws once the group is ending. */
  start(options: GuardedProcessOptions): GuardedProcess {
    if (this.#isEnding) throw new Error(`${options.name} is not started any more`);
    const member = spawnGuarded(options);
    this.#members.push(member);
    void member.ended.then((end) => {
      if (!this.#isEnding) this.#reportLoss({ name: member.name, end });
    });
    return member;
  }

  /** Ends the members, the newest first, so that each still has those it depends on. */
  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#isEnding = true;
    for (const member of this.#members.toReversed()) await member.stop({ graceMs });
  }
}
