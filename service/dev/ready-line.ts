import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { describeEnd, type GuardedProcess } from './guarded-process.ts';

/**
 * Waits for the line of JSON that reports a process as ready. Other lines, earlier and later, go to our standard error.
 * Rejects if the process ends first or takes too long.
 */
export async function readReadyLine<const Schema extends v.GenericSchema>(
  process: GuardedProcess,
  options: { readonly schema: Schema; readonly timeoutMs?: number; readonly clock?: Clock },
): Promise<v.InferOutput<Schema>> {
  const { schema, timeoutMs = 2 * MINUTE_MS, clock = systemClock } = options;
  if (process.stdout === null) throw new Error(`${process.name} was started without reading what it says`);
  const lines = createInterface({ input: process.stdout });
  return new Promise((resolve, reject) => {
    const timeout = clock.after(timeoutMs, () =>
      reject(new Error(`${process.name} did not say that it is ready within ${timeoutMs / 1_000} s`)),
    );
    lines.on('line', (line) => {
      const answer = v.safeParse(schema, parseJson(line));
      if (answer.success) resolve(answer.output);
      else console.error(line);
    });
    void process.ended.then((end) => {
      timeout.cancel();
      reject(new Error(`${process.name} could not start (${describeEnd(end)}); what it said stands above`));
    });
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
