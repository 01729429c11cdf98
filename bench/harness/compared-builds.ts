import type { Bench, BenchContext, Run } from './bench.ts';
import { type Build, OTHER_BUILD } from './build.ts';
import { spread, spreadText } from './statistics.ts';
import { ratios } from './targets.ts';

/** Returns the name of the other build's side that is compared with one of this build. */
function otherSide(side: string): string {
  return side === 'service' ? OTHER_BUILD : `${OTHER_BUILD}, ${side}`;
}

/** A bench of the service alone, once a build and round; the builds take turns, every other round in reverse. */
export async function runByTurns(bench: Bench, context: BenchContext, against: Build): Promise<Run[]> {
  const runs: Run[] = [];
  const builds = [context.build, against];
  for (let round = 1; round <= context.rounds; round += 1) {
    for (const build of round % 2 === 1 ? builds : builds.toReversed()) {
      const progress = (text: string): void => context.progress(`round ${round}, ${build.label}: ${text}`);
      const foundRuns = await bench.run({ ...context, build, against: undefined, rounds: 1, progress });
      const named = (side: string): string => (build === against ? otherSide(side) : side);
      runs.push(...foundRuns.map(({ side, figures }) => ({ side: named(side), round, figures })));
    }
  }
  return runs;
}

/** This build's figures as multiples of the other's, round by round, as lines of Markdown. */
export function buildRatios(runs: readonly Run[]): readonly string[] {
  const sides = [...new Set(runs.map(({ side }) => side))];
  const pairs = sides
    .map((side) => ({ side, against: otherSide(side) }))
    .filter(({ against }) => sides.includes(against));
  const names = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))];
  const rows = pairs.map((pair) => {
    const cells = names.map((name) => {
      const quotients = ratios(runs, pair, (ours, theirs) => (ours[name] ?? 0) / (theirs[name] ?? 0));
      return spreadText(spread(quotients));
    });
    return `| ${[`${pair.side} / ${pair.against}`, ...cells].join(' | ')} |`;
  });
  const head = `| ratio | ${names.join(' | ')} |\n|---${'|---'.repeat(names.length)}|`;
  return rows.length === 0 ? [] : ['', head, ...rows];
}
