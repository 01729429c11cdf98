import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../runtime/described-error.ts';
import { describeEnd } from './guarded-process.ts';
import { ProcessGroup } from './process-group.ts';

const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How long a member may take to end before it is killed. */
const GRACE_MS = 8_000;

/**
 * Runs a command that is made of several processes. Brings them up, prints the result of `bringUp` (by default as one
 * line of JSON), and exits this process when it is over. The members are gone by then.
 *
 * Exit 0 after SIGTERM, SIGINT or SIGHUP. Exit 1 if a member ended by itself or bringing up failed, with one sentence
 * on standard error.
 */
export async function runProcessGroup<Line extends object>(options: {
  readonly name: string;
  bringUp(group: ProcessGroup): Promise<Line>;
  print?(line: Line): string;
}): Promise<never> {
  const { name, bringUp, print = JSON.stringify } = options;
  const group = new ProcessGroup();
  const endSignal = Promise.race(END_SIGNALS.map((signal) => nextSignal(signal)));
  // A signal to the whole group may end members first; then the step that misses one has the better error.
  const lossText = group.broken.then((loss) => delay(300, `${loss.name} ended (${describeEnd(loss.end)})`));
  const life = bringUp(group).then((line) => {
    process.stdout.write(`${print(line)}\n`);
    return lossText;
  }, messageOf);
  const failure = await Promise.race([endSignal, life, lossText]);
  if (failure !== undefined) console.error(`${name}: ${failure}`);
  await group.stop({ graceMs: GRACE_MS });
  process.exit(failure === undefined ? 0 : 1);
}

/** Settles when the signal comes; later ones of its kind are ignored, for ending has begun. */
async function nextSignal(signal: NodeJS.Signals): Promise<undefined> {
  process.on(signal, () => undefined);
  await once(process, signal);
}
