import type { Bench, Run } from './bench.ts';
import { spread, spreadText } from './statistics.ts';
import { judge, targetText } from './targets.ts';

/** Returns a bench as Markdown: medians with least and most of all rounds, then the targets. */
export function tableOf(bench: Bench, runs: readonly Run[], notes: readonly string[] = []): string {
  const names = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))];
  const sides = [...new Set(runs.map(({ side }) => side))];
  const rows = sides.map((side) => {
    const ofSide = runs.filter((run) => run.side === side);
    const cells = names.map((name) => {
      const values = ofSide.flatMap(({ figures }) => (figures[name] === undefined ? [] : [figures[name]]));
      return values.length === 0 ? '–' : spreadText(spread(values));
    });
    return `| ${[side, ...cells].join(' | ')} |`;
  });
  const head = `| side | ${names.join(' | ')} |\n|---${'|---'.repeat(names.length)}|`;
  const targets = judge(bench.targets, runs).map(targetText);
  return [`### ${bench.name}: ${bench.title}`, '', head, ...rows, '', ...targets, ...notes, ''].join('\n');
}
