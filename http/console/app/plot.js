// @ts-check
/** A plot of the last minutes: lines or stacked bars, with the values under the pointer. */
import { html, useState } from '/console/preact.js';
import { clockTime } from './format.js';

const WIDTH = 600;
const HEIGHT = 120;
const SPANS_MINUTES = [2, 5, 15];

/**
 * @typedef {{ at: string, values: (number | null)[] }} Point one value a series
 * @param {{
 *   title: string,
 *   names: readonly string[],
 *   points: readonly Point[],
 *   stacked?: boolean,
 *   slotMs: number,
 *   show: (value: number) => string,
 * }} props
 */
export function Plot({ title, names, points, stacked = false, slotMs, show }) {
  const [pointed, setPointed] = useState(/** @type {Point | undefined} */ (undefined));
  const newest = points.at(-1);
  const endMs = newest === undefined ? Date.now() : Date.parse(newest.at) + slotMs;
  const spanMs = spanOf(endMs - Date.parse(points[0]?.at ?? ''));
  const shown = points.filter(({ at }) => Date.parse(at) >= endMs - spanMs);
  const highest = Math.max(
    ...shown.map(({ values }) => (stacked ? sum(values) : Math.max(...values.map(orZero)))),
    0,
  );
  const top = niceTop(highest);
  const x = (/** @type {number} */ atMs) => WIDTH - ((endMs - atMs) / spanMs) * WIDTH;
  const y = (/** @type {number} */ value) => HEIGHT - (value / top) * HEIGHT;
  const frame = { x, y, slotMs };
  const told = pointed ?? newest;
  const point = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const atMs = endMs - spanMs + ((event.clientX - box.left) / box.width) * spanMs;
    setPointed(shown.find((each) => Date.parse(each.at) <= atMs && atMs < Date.parse(each.at) + slotMs));
  };
  return html`
    <figure class="plot">
      <figcaption>
        <h2>${title}</h2>
        <span class="muted">${told === undefined ? '' : pointed === undefined ? 'now' : clockTime(told.at)}</span>
      </figcaption>
      <svg
        viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${describe(title, names, newest, show)}
        onPointerMove=${point}
        onPointerLeave=${() => setPointed(undefined)}
      >
        <path class="grid" d=${`M0 ${HEIGHT / 2}H${WIDTH}M0 0.5H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        ${names.map((_, index) =>
          stacked
            ? html`<path class=${`bars s${index}`} d=${bars(shown, index, frame)} />`
            : html`<path class=${`line s${index}`} d=${line(shown, index, frame)} />`,
        )}
        ${pointed && html`<path class="cursor" d=${`M${x(Date.parse(pointed.at) + slotMs / 2)} 0V${HEIGHT}`} />`}
      </svg>
      <div class="scale"><span>−${spanMs / 60_000} min</span><span>${show(top)} at the top</span></div>
      <ul class="legend">
        ${names.map(
          (name, index) => html`
            <li><i class=${`s${index}`}></i>${name} <b>${told === undefined ? '–' : showOr(told.values[index], show)}</b></li>
          `,
        )}
      </ul>
    </figure>
  `;
}

/**
 * @typedef {{ x: (atMs: number) => number, y: (value: number) => number, slotMs: number }} Frame
 * @param {readonly Point[]} points
 * @param {number} index
 * @param {Frame} frame
 */
function line(points, index, { x, y, slotMs }) {
  let path = '';
  let drawing = false;
  for (const { at, values } of points) {
    const value = values[index] ?? null;
    const place = `${x(Date.parse(at) + slotMs / 2).toFixed(1)} ${y(value ?? 0).toFixed(1)}`;
    if (value !== null) path += drawing ? `L${place}` : `M${place}h3`;
    drawing = value !== null;
  }
  return path;
}

/**
 * @param {readonly Point[]} points
 * @param {number} index
 * @param {Frame} frame
 */
function bars(points, index, { x, y, slotMs }) {
  let path = '';
  for (const { at, values } of points) {
    const below = sum(values.slice(0, index));
    const value = orZero(values[index] ?? 0);
    if (value === 0) continue;
    const left = x(Date.parse(at)) + 0.5;
    const right = x(Date.parse(at) + slotMs) - 0.5;
    path += `M${left.toFixed(1)} ${y(below).toFixed(1)}V${y(below + value).toFixed(1)}H${right.toFixed(1)}V${y(below).toFixed(1)}Z`;
  }
  return path;
}

/**
 * Returns the shortest span that shows all points, or the longest span.
 * @param {number} knownMs
 */
function spanOf(knownMs) {
  return (SPANS_MINUTES.find((minutes) => minutes * 60_000 >= knownMs) ?? 15) * 60_000;
}

/** The next of 1, 2, 5, 10, 20 … @param {number} value */
function niceTop(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
}

/** @param {(number | null)[]} values */
function sum(values) {
  return values.reduce((/** @type {number} */ total, value) => total + orZero(value), 0);
}

/** @param {number | null} value */
function orZero(value) {
  return value ?? 0;
}

/**
 * @param {number | null | undefined} value
 * @param {(value: number) => string} show
 */
function showOr(value, show) {
  return value === null || value === undefined ? '–' : show(value);
}

/**
 * @param {string} title
 * @param {readonly string[]} names
 * @param {Point | undefined} newest
 * @param {(value: number) => string} show
 */
function describe(title, names, newest, show) {
  if (newest === undefined) return `${title}: nothing yet`;
  return `${title}, now: ${names.map((name, index) => `${name} ${showOr(newest.values[index], show)}`).join(', ')}`;
}
