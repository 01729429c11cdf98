import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Figures, Run } from '../harness/bench.ts';
import { minutePlot } from '../harness/minute-plot.ts';
import { growthOfLives, growthOfLong } from './soak-outcomes.ts';

const RESULTS = resolve(import.meta.dirname, '../results');
/** Fewer have no quarters. */
const FEWEST_MINUTES = 4;

/** Returns the growth of both nodes' memory over the minutes of a soak, or nothing if there are too few minutes. */
export function memoryGrowth(runs: readonly Run[]): Figures {
  if (runs.length < FEWEST_MINUTES) return {};
  const valuesOf = (figure: string) => runs.map(({ figures }) => figures[figure]);
  const lives = runs.map(({ figures }) => ({ mib: figures.secondMiB, life: figures.secondLife ?? 0 }));
  const second = growthOfLives(lives);
  return {
    firstMiBTimes: growthOfLong(valuesOf('firstMiB')),
    firstHeapTimes: growthOfLong(valuesOf('firstHeapMiB')),
    ...(Number.isNaN(second) ? {} : { secondMiBTimes: second }),
  };
}

/** Writes the rows so far, as JSON and as a plot. So a run that is cut off still has its figures. */
export function saveMinutes(runs: readonly Run[], startedAt: Date): void {
  mkdirSync(RESULTS, { recursive: true });
  const path = join(RESULTS, `whole-soak-${startedAt.toISOString().replace(/[:.]/g, '-')}`);
  writeFileSync(`${path}.json`, `${JSON.stringify(runs, null, 1)}\n`);
  writeFileSync(`${path}.svg`, plotOf(runs));
}

function plotOf(runs: readonly Run[]): string {
  const minutes = runs.filter(({ figures }) => figures.acceptP99Ms !== undefined);
  const line = (name: string, figure: string) => ({
    name,
    values: minutes.map(({ figures }) => figures[figure]),
  });
  const calm = (name: string, figure: string) => ({
    name,
    values: minutes.map(({ side, figures }) => (side.startsWith('calm') ? figures[figure] : undefined)),
  });
  const marked = minutes.flatMap(({ side }, index) => (side.startsWith('calm') ? [] : [index]));
  return minutePlot(
    [
      {
        title: 'p99 of calm minutes, ms',
        lines: [calm('accepting', 'acceptP99Ms'), calm('GET /me', 'meP99Ms')],
      },
      {
        title: 'p99 of all minutes, ms (grey: a node was killed)',
        lines: [line('accepting', 'acceptP99Ms'), line('GET /me', 'meP99Ms')],
      },
      {
        title: 'Memory of the nodes, MiB',
        lines: [
          line('first, resident', 'firstMiB'),
          line('first, heaps', 'firstHeapMiB'),
          line('second, resident', 'secondMiB'),
          line('second, heaps', 'secondHeapMiB'),
        ],
      },
      {
        title: 'Memory of the others, MiB',
        lines: [line('Redis', 'redisMiB'), line('simulator', 'simulatorMiB')],
      },
      { title: 'Load average', lines: [line('of 1 minute', 'loadAverage')] },
    ],
    marked,
  );
}
