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
          // Guards are names (`transition-table.ts`).
          (target ?? []).map(({ key: to }) => {
            return { from: state.key, to, event, guard: guard === undefined ? null : String(guard) };
          }),
        ),
      ),
    ),
  };
}
