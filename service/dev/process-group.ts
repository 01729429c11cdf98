import {
  type GuardedProcess,
  type GuardedProcessOptions,
  type ProcessEnd,
  spawnGuarded,
} from './guarded-process.ts';

/** A member that ended without being stopped. */
export interface ProcessLoss {
  readonly name: string;
  readonly end: ProcessEnd;
}

/** Processes that end together. */
export interface ProcessGroup {
  /** Starts a member. Throws once the group is ending. */
  start(options: GuardedProcessOptions): GuardedProcess;
  /** Settles with the first member that ended by itself; never when `stop` came first. */
  readonly broken: Promise<ProcessLoss>;
  /** Ends the members, the newest first, so that each still has those it depends on. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** Makes an empty group. */
export function createProcessGroup(): ProcessGroup {
  const members: GuardedProcess[] = [];
  let isEnding = false;
  let reportLoss: (loss: ProcessLoss) => void;
  const loss = new Promise<ProcessLoss>((resolve) => {
    reportLoss = resolve;
  });
  return {
    broken: loss,
    start(options) {
      if (isEnding) throw new Error(`${options.name} is not started any more`);
      const member = spawnGuarded(options);
      members.push(member);
      void member.ended.then((end) => {
        if (!isEnding) reportLoss({ name: member.name, end });
      });
      return member;
    },
    async stop({ graceMs }) {
      isEnding = true;
      for (const member of members.toReversed()) await member.stop({ graceMs });
    },
  };
}
