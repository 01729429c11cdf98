import { type AnyStateMachine, createActor, type EventFromLogic, type SnapshotFrom } from 'xstate';

/** An effect a machine asked for: the type and parameters of one of its actions. */
export interface MachineEffect {
  readonly type: string;
  readonly params: unknown;
}

/** The part of a machine's snapshot that is stored. */
export interface StoredMachine {
  readonly value: string;
  readonly context: unknown;
}

/** A machine as a pure function, with its snapshots made, stored and restored. */
export interface Stepper<Machine extends AnyStateMachine, Effect> {
  readonly machine: Machine;
  initial(): SnapshotFrom<Machine>;
  restore(stored: StoredMachine): SnapshotFrom<Machine>;
  /** The next snapshot and the effects asked for, none of them run. An event without a transition gives the same snapshot. */
  step(
    snapshot: SnapshotFrom<Machine>,
    event: EventFromLogic<Machine>,
  ): { readonly snapshot: SnapshotFrom<Machine>; readonly effects: readonly Effect[] };
}

const ignore = (): void => undefined;

/**
 * Drives an XState machine without a live actor: mailbox, timers, persistence and supervision are the runtime's.
 * It uses what `transition()` of xstate 5.33 uses, with one scope for all calls, since building a throw-away actor
 * each time costs four times the step itself. tests/actors/stepper.test.ts holds the contract with that version.
 */
export function stepper<Machine extends AnyStateMachine, Effect extends MachineEffect>(
  machine: Machine,
): Stepper<Machine, Effect> {
  const self = createActor(machine);
  let collected: Effect[] = [];
  const scope = {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: ignore,
    defer: ignore,
    stopChild: ignore,
    emit: ignore,
    actionExecutor: (action: { type: string; params: unknown }) => {
      collected.push({ type: action.type, params: action.params } as Effect);
    },
  } as unknown as Parameters<Machine['transition']>[2];
  return {
    machine,
    initial: () => self.getSnapshot() as SnapshotFrom<Machine>,
    restore: (stored) =>
      machine.resolveState({
        value: stored.value,
        context: stored.context as never,
      }) as SnapshotFrom<Machine>,
    step(snapshot, event) {
      collected = [];
      const next = machine.transition(snapshot as never, event as never, scope) as SnapshotFrom<Machine>;
      const error = (next as { error?: unknown }).error;
      if (error !== undefined) throw error;
      return { snapshot: next, effects: collected };
    },
  };
}
