import type { BoundTarget, Figures, RatioTarget, Run, Target } from './bench.ts';
import { OTHER_BUILD } from './build.ts';
import { numberText, type Spread, spread, spreadText } from './statistics.ts';

/** A target compared with the measurement. The median decides, or the worst value if there is a limit. */
export interface TargetResult {
  readonly target: Target;
  readonly found: Spread;
  readonly grade: 'aim' | 'must' | 'missed';
}

/** Returns the value of each round in which both sides were measured. */
export function ratios(
  runs: readonly Run[],
  { side, against }: { readonly side: string; readonly against: string },
  of: (ours: Figures, theirs: Figures) => number,
): number[] {
  return runs
    .filter((run) => run.side === side)
    .flatMap((ownRun) => {
      const theirs = runs.find((run) => run.side === against && run.round === ownRun.round);
      return theirs === undefined ? [] : [of(ownRun.figures, theirs.figures)];
    });
}

const isRatio = (target: Target): target is RatioTarget =>
  target.kind === 'at least' || target.kind === 'at most';

/** Judges a bench's targets, except those whose sides were not measured. */
export function judge(targets: readonly Target[], runs: readonly Run[]): TargetResult[] {
  return targets.flatMap((target) => {
    const values = isRatio(target) ? ratioValues(target, runs) : boundValues(target, runs);
    if (values.length === 0) return [];
    const foundSpread = spread(values);
    const isLess = target.kind === 'at most' || target.kind === 'never over';
    const value = isRatio(target) ? foundSpread.median : isLess ? foundSpread.max : foundSpread.min;
    const reaches = (bound: number): boolean => (isLess ? value <= bound : value >= bound);
    return [
      {
        target,
        found: foundSpread,
        grade: reaches(target.aim) ? 'aim' : reaches(target.must) ? 'must' : 'missed',
      },
    ];
  });
}

/** Returns the targets with a limit that a round broke: their worst value is beyond what it must be. */
export function brokenLimits(results: readonly TargetResult[]): readonly TargetResult[] {
  return results.filter(({ target, grade }) => !isRatio(target) && grade === 'missed');
}

function ratioValues(target: RatioTarget, runs: readonly Run[]): number[] {
  const { figure } = target;
  const isInverse = target.kind === 'at least' && figure !== 'perSecond';
  return ratios(runs, target, (ours, theirs) => {
    const ratio = (ours[figure] ?? Number.NaN) / (theirs[figure] ?? Number.NaN);
    return isInverse ? 1 / ratio : ratio;
  });
}

function boundValues({ figure, sides }: BoundTarget, runs: readonly Run[]): number[] {
  const counts = (side: string): boolean => sides?.includes(side) ?? !side.startsWith(OTHER_BUILD);
  return runs.flatMap(({ side, figures }) => (counts(side) ? (figures[figure] ?? []) : []));
}

const GRADE_WORDS = { aim: 'aim reached', must: 'held', missed: 'MISSED' };
const FIGURE_WORDS = {
  perSecond: 'throughput',
  serverCpuUs: 'server CPU a request',
  totalCpuUs: 'server and Redis CPU a request',
};

/** Returns a judged target as a line of Markdown. */
export function targetText({ target, found, grade }: TargetResult): string {
  const asked = `must ${numberText(target.must)}, aim ${numberText(target.aim)}: ${GRADE_WORDS[grade]}`;
  if (!isRatio(target)) {
    const rows = target.sides?.join(', ') ?? 'all rows';
    return `- ${target.figure} ${target.kind}: ${spreadText(found)} over ${rows} (${asked})`;
  }
  const { side, against, figure, kind } = target;
  const isInverse = kind === 'at least' && figure !== 'perSecond';
  const comparison = isInverse
    ? `requests by ${FIGURE_WORDS[figure].replace(' a request', '')}`
    : FIGURE_WORDS[figure];
  return `- ${side} against ${against}: ${comparison} × ${spreadText(found)} (${kind}; ${asked})`;
}
