import { inspect } from 'node:util';
import { Draw } from './draw.ts';
import type { Defect, FuzzTarget, OpenTarget, TargetReport } from './fuzz-target.ts';

/** The cases of a target that are tried. */
export interface FuzzRun {
  readonly seed: number;
  /** The number of the first case. */
  readonly first?: number;
  /** Returns true if another case follows after this number. */
  readonly goesOn: (cases: number) => boolean;
  readonly found?: (defect: Defect) => void;
}

/** Defects of one target after which no more of its cases are tried. */
const MOST_DEFECTS = 20;
/** Characters of a case's input that are reported. */
const LONGEST_INPUT = 4_000;

/** Tries cases of one target, one after the other. An unhandled rejection counts for the current case. */
export async function runFuzz(
  target: FuzzTarget,
  { seed, first = 0, goesOn, found }: FuzzRun,
): Promise<TargetReport> {
  const defects: Defect[] = [];
  let number = first;
  let input: unknown;
  const report = (value: unknown): void => {
    const text = typeof input === 'string' ? input : inspect(input, { depth: 12, breakLength: 160 });
    const defect = {
      target: target.name,
      number,
      what: described(value),
      input: text.slice(0, LONGEST_INPUT),
    };
    defects.push(defect);
    found?.(defect);
  };
  process.on('unhandledRejection', report);
  process.on('uncaughtException', report);
  let openTarget: OpenTarget | undefined;
  try {
    openTarget = await opened(target);
    for (; goesOn(number - first) && defects.length < MOST_DEFECTS; number += 1) {
      input = undefined;
      await openTarget
        .tryCase(new Draw(`${seed} ${target.name} ${number}`), (noted) => {
          input = noted;
        })
        .catch(report);
    }
  } finally {
    await openTarget?.close().catch(report);
    process.off('unhandledRejection', report);
    process.off('uncaughtException', report);
  }
  return { target: target.name, cases: number - first, defects };
}

/** Starts a target; once more where a busy machine did not start it in time. */
function opened(target: FuzzTarget): Promise<OpenTarget> {
  return target.open().catch(() => target.open());
}

function described(value: unknown): string {
  return value instanceof Error ? (value.stack ?? value.message) : inspect(value);
}
