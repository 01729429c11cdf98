// @ts-check
import { html, useState } from '/console/preact.js';
import { count, dateAndTime } from '../format.js';

/** @import { Batch } from '../answers.js' */

const WIDTH = 600;
const HEIGHT = 80;
const DAY_MS = 86_400_000;

/**
 * A bar for each day with its number of recipients. Days without recipients are included.
 * @param {{ forecast: NonNullable<Batch['forecast']>, timeZone: string }} props `timeZone` decides where a day begins
 */
export function BatchForecast({ forecast: { days, firstAt, lastAt }, timeZone }) {
  const [pointed, setPointed] = useState(/** @type {number | undefined} */ (undefined));
  const shown = everyDay(days);
  const most = Math.max(...shown.map((day) => day.count));
  const step = WIDTH / shown.length;
  const bar = (/** @type {number} */ index) => {
    const top = HEIGHT - ((shown[index]?.count ?? 0) / most) * HEIGHT;
    const [left, right] = [index * step + step * 0.08, (index + 1) * step - step * 0.08];
    return `M${left.toFixed(1)} ${HEIGHT}V${top.toFixed(1)}H${right.toFixed(1)}V${HEIGHT}Z`;
  };
  const point = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    setPointed(Math.floor(((event.clientX - box.left) / box.width) * shown.length));
  };
  const told = pointed === undefined ? undefined : shown[pointed];
  const span = firstAt === null || lastAt === null ? '' : `${dateAndTime(firstAt)} to ${dateAndTime(lastAt)}`;
  return html`
    <figure class="plot">
      <figcaption>
        <h3>When the rest is sent</h3>
        <span class="muted">${told === undefined ? span : `${told.date}: ${count(told.count)}`}</span>
      </figcaption>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label=${`Forecast: ${days.map((day) => `${day.date} ${day.count}`).join(', ')}`}
        onPointerMove=${point} onPointerLeave=${() => setPointed(undefined)}>
        <path class="grid" d=${`M0 0.5H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        <path class="bars s0" d=${shown.map((_, index) => bar(index)).join('')} />
      </svg>
      <div class="scale"><span>${shown[0]?.date}</span><span>${count(most)} a day at the top, days of ${timeZone}</span><span>${shown.length > 1 ? shown.at(-1)?.date : ''}</span></div>
    </figure>
  `;
}

/**
 * The days of a forecast, and those between them.
 * @param {NonNullable<Batch['forecast']>['days']} days in their order
 */
function everyDay(days) {
  const counts = new Map(days.map((day) => [day.date, day.count]));
  const [first, last] = [days[0], days.at(-1)].map((day) => Date.parse(day?.date ?? ''));
  /** @type {{ date: string, count: number }[]} */
  const shown = [];
  for (let atMs = first ?? 0; atMs <= (last ?? 0); atMs += DAY_MS) {
    const date = new Date(atMs).toISOString().slice(0, 10);
    shown.push({ date, count: counts.get(date) ?? 0 });
  }
  return shown;
}
