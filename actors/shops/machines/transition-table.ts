import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

export type Context = Readonly<Record<string, unknown>>;

interface Arguments {
  readonly context: Context;
  readonly event: { readonly type: string };
}

/** One action of a transition. It changes the context, or it is an effect with parameters. */
interface Action {
  /** The name of the effect. */
  readonly effect: string;
  readonly params: ((args: Arguments) => unknown) | undefined;
  /** The assignment of the action. Undefined if it is an effect. */
  readonly assign: ((args: Arguments) => Context) | undefined;
}

/** A step of a machine from a state to another. */
export interface MachineStep {
  /** The machine's id. */
  readonly machine: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
}

/** One transition out of a state, or one that stays in it. */
export interface Transition {
  /** Its condition. If undefined, it is taken whenever no earlier one is. */
  readonly guard: ((args: Arguments) => boolean) | undefined;
  /** Its target is the same state if the state does not change. */
  readonly step: MachineStep;
  readonly actions: readonly Action[];
}

/** The transitions of a state by event, in the order in which their conditions are checked. */
export type TableState = ReadonlyMap<string, readonly Transition[]>;

/** A machine's transitions, ready to be looked up. */
export interface TransitionTable {
  readonly initial: { readonly value: string; readonly context: Context };
  readonly states: ReadonlyMap<string, TableState>;
}

/**
 * Returns the transitions of a machine with flat states, named guards and a fixed first context. Each named action
 * either assigns or is an effect. Throws on a machine with other features, since the table's steps would differ from
 * XState's.
 */
export function transitionTable(machine: AnyStateMachine): TransitionTable {
  const { root } = machine;
  const states = Object.values(machine.states) as AnyStateNode[];
  for (const node of [root, ...states]) refuseMore(machine, node);
  const initial = machine.config.initial as string;
  const context = machine.config.context as Context;
  if (typeof context !== 'object') throw unknownForm(machine, 'a context that is made');
  return {
    initial: { value: initial, context },
    states: new Map(states.map((node) => [node.key, transitionsOf(machine, node)])),
  };
}

/** Returns a state's transitions. Its own are checked before the machine's. */
function transitionsOf(machine: AnyStateMachine, node: AnyStateNode): TableState {
  const transitions = new Map<string, Transition[]>();
  for (const [event, definitions] of [...node.transitions, ...machine.root.transitions]) {
    if (event.includes('*')) throw unknownForm(machine, `the event ${event}`);
    const earlierSteps = transitions.get(event) ?? [];
    const origin = { machine: machine.id, from: node.key, event };
    transitions.set(event, [
      ...earlierSteps,
      ...definitions.map((definition) => transitionOf(machine, origin, definition)),
    ]);
  }
  return transitions;
}

function transitionOf(
  machine: AnyStateMachine,
  origin: Omit<MachineStep, 'to'>,
  { guard, target, actions }: AnyTransitionDefinition,
): Transition {
  return {
    guard: guard === undefined ? undefined : guardOf(machine, guard),
    step: { ...origin, to: target?.[0]?.key ?? origin.from },
    actions: actions.map((action) => actionOf(machine, action)),
  };
}

function guardOf(machine: AnyStateMachine, name: unknown): Transition['guard'] {
  const guard = typeof name === 'string' ? machine.implementations.guards[name] : undefined;
  if (typeof guard !== 'function' || 'check' in guard)
    throw unknownForm(machine, `the guard ${String(name)}`);
  return (args) => (guard as (args: Arguments, params: undefined) => boolean)(args, undefined);
}

function actionOf(machine: AnyStateMachine, action: AnyTransitionDefinition['actions'][number]): Action {
  if (typeof action === 'function') throw unknownForm(machine, 'an action without a name');
  const namedAction = typeof action === 'string' ? { type: action } : action;
  const implementation = machine.implementations.actions[namedAction.type];
  if (typeof implementation !== 'function') throw unknownForm(machine, `the action ${namedAction.type}`);
  const params = 'params' in namedAction ? namedAction.params : undefined;
  const assign =
    'resolve' in implementation ? assignOf(machine, namedAction.type, implementation) : undefined;
  const isKnown = params === undefined || (typeof params === 'function' && assign === undefined);
  if (!isKnown) throw unknownForm(machine, `what is passed to the action ${namedAction.type}`);
  return { effect: namedAction.type, params: params as Action['params'], assign };
}

/** Returns the argument of XState's `assign()`: a function, or an object of changes. */
function assignOf(machine: AnyStateMachine, name: string, builtIn: object): Action['assign'] {
  const { type, assignment } = builtIn as { type?: unknown; assignment?: unknown };
  if (type !== 'xstate.assign') throw unknownForm(machine, `the action ${name}`);
  if (typeof assignment === 'function') return assignment as (args: Arguments) => Context;
  const changes = assignment as Context;
  if (Object.values(changes).some((value) => typeof value === 'function'))
    throw unknownForm(machine, `the action ${name}`);
  return () => changes;
}

function refuseMore(machine: AnyStateMachine, node: AnyStateNode): void {
  const { entry, exit, invoke, always, after } = node;
  const hasUnknownForm = [entry, exit, invoke, always ?? [], after].some(({ length }) => length > 0);
  const isFlat = node === machine.root ? node.type === 'compound' : node.type === 'atomic';
  if (hasUnknownForm || !isFlat) throw unknownForm(machine, `the state ${node.key}`);
}

function unknownForm(machine: AnyStateMachine, form: string): Error {
  return new Error(`${machine.id}: ${form} has a form that the table of transitions does not know`);
}
