import type { AnyStateMachine, ContextFrom, EventFromLogic, SnapshotFrom } from 'xstate';
import {
  type Context,
  type MachineStep,
  type TableState,
  type Transition,
  transitionTable,
} from './transition-table.ts';

/** An effect of a machine: the type and parameters of one of its actions. */
export interface MachineEffect {
  readonly type: string;
  readonly params: unknown;
}

/** The part of a machine's snapshot that is stored. */
export interface StoredMachine {
  readonly value: string;
  readonly context: unknown;
}

/** A machine's present state: its name and its context. */
export interface MachineSnapshot<Machine extends AnyStateMachine> {
  readonly value: SnapshotFrom<Machine>['value'];
  readonly context: ContextFrom<Machine>;
}

/** A machine as a pure function, with its snapshots made, stored and restored. */
export interface Stepper<Machine extends AnyStateMachine, Effect> {
  initial(): MachineSnapshot<Machine>;
  restore(storedMachine: StoredMachine): MachineSnapshot<Machine>;
  /**
   * Returns the next snapshot and its effects, none of them run. An event without a transition gives the same snapshot
   * and no step.
   */
  step(
    snapshot: MachineSnapshot<Machine>,
    event: EventFromLogic<Machine>,
  ): {
    readonly snapshot: MachineSnapshot<Machine>;
    readonly effects: readonly Effect[];
    readonly step?: MachineStep;
  };
}

/**
 * Drives an XState machine without a live actor: mailbox, timers, persistence and supervision belong to the runtime. A
 * step looks up its transition in a table made of the machine (docs/decisions/008-machines-decide.md), in a tenth of
 * XState's time. tests/actors/shops/machines/stepper.test.ts compares each step of both machines with XState's.
 */
export function stepper<Machine extends AnyStateMachine, Effect extends MachineEffect>(
  machine: Machine,
): Stepper<Machine, Effect> {
  const { initial, states } = transitionTable(machine);
  const stateOf = (value: unknown): TableState => {
    const state = states.get(value as string);
    if (state === undefined) throw new Error(`${machine.id}: there is no state ${String(value)}`);
    return state;
  };
  return {
    initial: () => initial as MachineSnapshot<Machine>,
    restore(storedMachine) {
      stateOf(storedMachine.value);
      return { value: storedMachine.value, context: storedMachine.context } as MachineSnapshot<Machine>;
    },
    step(snapshot, event) {
      const transition = transitionFor(stateOf(snapshot.value), snapshot.context as Context, event);
      if (transition === undefined) return { snapshot, effects: [] };
      const effects: Effect[] = [];
      let context = snapshot.context as Context;
      for (const { effect, assign, params } of transition.actions) {
        if (assign !== undefined) context = { ...context, ...assign({ context, event }) };
        else effects.push({ type: effect, params: params?.({ context, event }) } as Effect);
      }
      const next = { value: transition.step.to, context };
      return { snapshot: next as MachineSnapshot<Machine>, effects, step: transition.step };
    },
  };
}

/** Returns the first transition for the event with a true condition. */
function transitionFor(
  state: TableState,
  context: Context,
  event: { readonly type: string },
): Transition | undefined {
  const transitions = state.get(event.type);
  if (transitions === undefined) return undefined;
  for (const transition of transitions) {
    if (transition.guard === undefined || transition.guard({ context, event })) return transition;
  }
  return undefined;
}
