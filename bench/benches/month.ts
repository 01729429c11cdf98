import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Bench, Figures } from '../harness/bench.ts';

const PROGRAM = resolve(import.meta.dirname, '../../tests/month/month.ts');
/** The program's two lines with figures: its counts, and its growth. */
const REPORTED = /(?:^|: )(\{"(?:days|resident)":.*\})$/;

/**
 * A month of large accounts: `npm run test:month` with 50 shops (`--sessions=50`) and at most `--minutes=60`. The bench
 * fails if one of its checks fails. `…Times` are multiples of the first day, and `storedTimes` of the day on which
 * retention is level.
 */
export const month: Bench = {
  name: 'month',
  title: 'Large accounts through a month of simulated time',
  isMain: false,
  targets: [
    { kind: 'never over', figure: 'residentTimes', must: 1.2, aim: 1 },
    { kind: 'never over', figure: 'heapsTimes', must: 1.2, aim: 1 },
    { kind: 'never over', figure: 'keysTimes', must: 1.2, aim: 1.05 },
    { kind: 'never over', figure: 'storedTimes', must: 1.2, aim: 1.05 },
    { kind: 'never over', figure: 'slowestStopMs', must: 1_000, aim: 300 },
  ],
  async run({ setting, progress }) {
    const days = setting('days', 30);
    const shops = setting('sessions', 50);
    const minutes = setting('minutes', 60);
    const options = [`--days=${days}`, `--shops=${shops}`, `--minutes=${minutes}`];
    const child = spawn('node', ['--import', 'tsx', PROGRAM, ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((done) => child.once('close', done));
    const found: Record<string, number>[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      progress(`month: ${line}`);
      const json = REPORTED.exec(line)?.[1];
      if (json !== undefined) found.push(JSON.parse(json));
    }
    const status = await ended;
    if (status !== 0) throw new Error(`the month ended with ${status}`);
    const [counts = {}, growth = {}] = found;
    const figures: Figures = {
      ...counts,
      ...Object.fromEntries(Object.entries(growth).map(([figure, times]) => [`${figure}Times`, times])),
    };
    return [{ side: `${shops} shops`, round: 1, figures }];
  },
};
