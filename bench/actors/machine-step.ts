/**
 * Measures one step of a message's pacing by the table and by XState. The sides take turns in one process.
 * Run: node --import tsx bench/actors/machine-step.ts
 */
import { execFileSync } from 'node:child_process';
import { createActor, transition } from 'xstate';
import { type PacingEvent, pacingMachine } from '../../actors/shops/machines/pacing-machine.ts';
import { stepper } from '../../actors/shops/machines/stepper.ts';
import { bytesInUse } from '../policy/alternate.ts';

const MESSAGES = 500;
/** Turns until the code is compiled, and measured. */
const WARM_TURNS = 10;
const MEASURED_TURNS = 21;
/** The young generation has room for all that a turn allocates, so that none of it is collected meanwhile. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

type Step = (event: PacingEvent) => void;

function table(): Step {
  const { initial, step } = stepper(pacingMachine);
  let snapshot = initial();
  return (event) => {
    snapshot = step(snapshot, event).snapshot;
  };
}

/** XState's public function, which makes an actor for each step. */
function ownTransition(): Step {
  let snapshot = pacingMachine.getInitialSnapshot({} as never);
  return (event) => {
    [snapshot] = transition(pacingMachine, snapshot, event);
  };
}

/** XState's inner function, with one actor for all steps. It is the cheapest step that XState has. */
function innerTransition(): Step {
  const self = createActor(pacingMachine);
  const ignore = (): void => undefined;
  const scope = { self, system: self.system, defer: ignore, emit: ignore, actionExecutor: ignore } as never;
  let snapshot = pacingMachine.getInitialSnapshot(scope);
  return (event) => {
    snapshot = pacingMachine.transition(snapshot, event, scope);
  };
}

/** Returns the nanoseconds and the bytes of a step. */
function measured(step: Step): readonly [ns: number, bytes: number] {
  const bytesBefore = bytesInUse();
  const startedNs = process.hrtime.bigint();
  for (let message = 0; message < MESSAGES; message += 1) {
    step({ type: 'dispatch', message: { messageId: 'm1', kind: 'message', to: '+33612345678' }, untilMs: 5 });
    step({ type: 'prepared', untilMs: 7 });
    step({ type: 'outcome', outcome: { kind: 'acknowledged' }, gapUntilMs: 9, pauseUntilMs: 11 });
    step({ type: 'elapsed', gapUntilMs: 13 });
  }
  const takenNs = Number(process.hrtime.bigint() - startedNs);
  const { heapUsed, external } = process.memoryUsage();
  return [takenNs / MESSAGES / 4, (heapUsed + external - bytesBefore) / MESSAGES / 4];
}

function inOrder(figures: readonly number[]): string {
  const sorted = figures.map(Math.round).sort((left, right) => left - right);
  return `${sorted[Math.floor(sorted.length / 2)]} [${sorted[0]}–${sorted.at(-1)}]`;
}

if (process.execArgv.includes('--expose-gc')) {
  const sides = Object.entries({ table, ownTransition, innerTransition });
  const runs = sides.map(([name, make]) => ({ name, step: make(), turns: [] as [number, number][] }));
  for (let turn = 0; turn < WARM_TURNS + MEASURED_TURNS; turn += 1)
    for (const { step, turns } of runs) turns.push([...measured(step)]);
  for (const { name, turns } of runs) {
    const counted = turns.slice(WARM_TURNS);
    const [ns, bytes] = [counted.map(([time]) => time), counted.map(([, size]) => size)];
    console.log(`${name.padEnd(20)} ${inOrder(ns)} ns and ${inOrder(bytes)} bytes a step`);
  }
} else {
  execFileSync(process.execPath, [...FLAGS, '--import', 'tsx', import.meta.filename], { stdio: 'inherit' });
}
