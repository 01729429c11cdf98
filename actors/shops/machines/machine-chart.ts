import type { AnyStateMachine } from 'xstate';

/** A state machine as a drawing needs it: its states in the order of their table, and the transitions between them. */
export interface MachineChart {
  readonly id: string;
  readonly initial: string;
  readonly states: readonly string[];
  readonly transitions: readonly ChartTransition[];
}

/** One outgoing transition of a state. */
export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** The condition's name. Null if the transition is taken whenever no earlier one is. */
  readonly guard: string | null;
}

/** Returns the chart of the running machine, so that a drawing cannot differ from it. */
export function machineChart(machine: AnyStateMachine): MachineChart {
  const states = Object.values(machine.states);
  return {
    id: machine.id,
    initial: String(machine.config.initial),
    states: states.map(({ key }) => key),
    transitions: states.flatMap((state) =>
      [...state.transitions].flatMap(([event, transitions]) =>
        transitions.flatMap(({ target, guard }) =>
          (target ?? []).map(({ key }) => ({ from: state.key, to: key, event, guard: guardName(guard) })),
        ),
      ),
    ),
  };
}

function guardName(guard: unknown): string | null {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return String(guard.type);
  return null;
}
