import type { Bench, Run } from './bench.ts';
import { numberText, spread } from './statistics.ts';

const WIDTH = 900;
const LABEL_WIDTH = 230;
const BAR_HEIGHT = 18;
const ROW_HEIGHT = 28;
const TITLE_HEIGHT = 44;

/** Draws all benches with a throughput as bars: the median of each side, and a line from its least to its most. */
export function plotOf(results: readonly { readonly bench: Bench; readonly runs: readonly Run[] }[]): string {
  let top = 10;
  const parts: string[] = [];
  for (const { bench, runs } of results) {
    const sides = [...new Set(runs.map(({ side }) => side))];
    const bars = sides.flatMap((side) => {
      const values = runs.flatMap((run) => (run.side === side ? (run.figures.perSecond ?? []) : []));
      return values.length === 0 ? [] : [{ side, ...spread(values) }];
    });
    if (bars.length === 0) continue;
    parts.push(`<text x="10" y="${top + 26}" class="title">${bench.title} (requests a second)</text>`);
    top += TITLE_HEIGHT;
    const largest = Math.max(...bars.map(({ max }) => max));
    const x = (value: number): number => LABEL_WIDTH + (value / largest) * (WIDTH - LABEL_WIDTH - 90);
    for (const { side, median, min, max } of bars) {
      const middle = top + BAR_HEIGHT / 2;
      const colour = side.startsWith('f') ? '#9aa5b1' : '#2266cc';
      parts.push(
        `<text x="${LABEL_WIDTH - 10}" y="${middle + 4}" text-anchor="end">${side}</text>`,
        `<rect x="${LABEL_WIDTH}" y="${top}" width="${x(median) - LABEL_WIDTH}" height="${BAR_HEIGHT}" fill="${colour}"/>`,
        `<line x1="${x(min)}" x2="${x(max)}" y1="${middle}" y2="${middle}" stroke="#111" stroke-width="2"/>`,
        `<text x="${x(max) + 8}" y="${middle + 4}">${numberText(median)}</text>`,
      );
      top += ROW_HEIGHT;
    }
  }
  const style = 'text{font:13px sans-serif;fill:#111}.title{font-weight:bold}';
  const paper = `<rect width="${WIDTH}" height="${top + 10}" fill="#fff"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top + 10}"><style>${style}</style>${paper}${parts.join('')}</svg>\n`;
}
