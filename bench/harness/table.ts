import type { Bench, Run, Target } from './bench.ts';
import { numberText, type Spread, spread, spreadText } from './statistics.ts';

/** A target held against what was measured: the service's throughput and cost as multiples of the other side's. */
export interface TargetResult extends Target {
  /** Throughput of the service by that of the other, round by round. */
  readonly throughput: Spread;
  /** Requests a second of the server's own CPU time, by the other's: free of what the client can ask for. */
  readonly cpu: Spread;
  readonly grade: 'aim' | 'must' | 'missed';
}

/** Judges a bench's targets; the CPU ratio decides where the client, not the server, was the limit of the other side. */
export function judge(bench: Bench, runs: readonly Run[]): TargetResult[] {
  return bench.targets.map((target) => {
    const pairs = runs
      .filter(({ side }) => side === target.side)
      .flatMap((ours) => {
        const theirs = runs.find(({ side, round }) => side === target.against && round === ours.round);
        return theirs === undefined ? [] : [{ ours: ours.figures, theirs: theirs.figures }];
      });
    const throughput = spread(
      pairs.map(({ ours, theirs }) => (ours.perSecond ?? 0) / (theirs.perSecond ?? 0)),
    );
    const cpu = spread(pairs.map(({ ours, theirs }) => (theirs.serverCpuUs ?? 0) / (ours.serverCpuUs ?? 0)));
    const reached = Math.min(throughput.median, cpu.median);
    const grade = reached >= target.aim ? 'aim' : reached >= target.must ? 'must' : 'missed';
    return { ...target, throughput, cpu, grade };
  });
}

const gradeWords = { aim: 'aim reached', must: 'held', missed: 'MISSED' };

/** A bench as Markdown: medians with least and most of all rounds, then the targets. */
export function tableOf(bench: Bench, runs: readonly Run[]): string {
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
  const targets = judge(bench, runs).map(
    ({ against, must, aim, throughput, cpu, grade }) =>
      `- against ${against}: throughput × ${spreadText(throughput)}, server CPU × ${spreadText(cpu)} ` +
      `(must ${numberText(must)}, aim ${numberText(aim)}: ${gradeWords[grade]})`,
  );
  return [`### ${bench.name}: ${bench.title}`, '', head, ...rows, '', ...targets, ''].join('\n');
}
