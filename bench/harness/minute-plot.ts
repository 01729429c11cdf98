import { numberText } from './statistics.ts';

/** Lines over the minutes of a run that share an axis. A minute without a value leaves a gap. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[];
}

const WIDTH = 900;
const LEFT = 70;
const RIGHT = 150;
const HEIGHT = 130;
const PANEL_HEIGHT = HEIGHT + 60;
const COLOURS = ['#2266cc', '#cc5522', '#228844', '#884499'];

/** Draws the panels below each other as SVG. The minutes `marked` have a grey ground. */
export function minutePlot(panels: readonly Panel[], marked: readonly number[]): string {
  const minutes = Math.max(1, ...panels.flatMap(({ lines }) => lines.map(({ values }) => values.length)));
  const step = (WIDTH - LEFT - RIGHT) / minutes;
  const parts = panels.map(({ title, lines }, index) => {
    const top = index * PANEL_HEIGHT + 34;
    const most = Math.max(
      1e-9,
      ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined)),
    );
    const y = (value: number): string => (top + HEIGHT - (value / most) * HEIGHT).toFixed(1);
    const ground = marked.map(
      (minute) =>
        `<rect x="${(LEFT + minute * step).toFixed(1)}" y="${top}" width="${step.toFixed(1)}" height="${HEIGHT}" fill="#ddd"/>`,
    );
    const drawn = lines.flatMap(({ name, values }, line) => {
      const colour = COLOURS[line % COLOURS.length];
      let isPenUp = true;
      const path = values
        .map((value, minute) => {
          if (value === undefined) {
            isPenUp = true;
            return '';
          }
          const command = isPenUp ? 'M' : 'L';
          isPenUp = false;
          return `${command}${(LEFT + (minute + 0.5) * step).toFixed(1)} ${y(value)}`;
        })
        .join('');
      return [
        `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
        `<text x="${WIDTH - RIGHT + 10}" y="${top + 14 + line * 18}" style="fill:${colour}">${name}</text>`,
      ];
    });
    return [
      `<text x="10" y="${top - 12}" class="title">${title}</text>`,
      ...ground,
      `<path d="M${LEFT} ${top}V${top + HEIGHT}H${WIDTH - RIGHT}" fill="none" stroke="#111"/>`,
      `<text x="${LEFT - 6}" y="${top + 5}" text-anchor="end">${numberText(most)}</text>`,
      `<text x="${LEFT - 6}" y="${top + HEIGHT + 5}" text-anchor="end">0</text>`,
      `<text x="${WIDTH - RIGHT}" y="${top + HEIGHT + 16}" text-anchor="end">minute ${minutes}</text>`,
      ...drawn,
    ].join('');
  });
  const height = panels.length * PANEL_HEIGHT + 10;
  const style = 'text{font:13px sans-serif;fill:#111}.title{font-weight:bold}';
  const paper = `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"><style>${style}</style>${paper}${parts.join('')}</svg>\n`;
}
